import * as z from 'zod/mini';
import { ChannelKind } from '../../domain/channel.ts';
import { DisabledReason, EndpointStatus } from '../../domain/endpoint.ts';
import { ChannelId, DeliveryId } from '../../domain/ids.ts';
import { ATTEMPTS_FIELDS, DELIVERY_FIELDS, Failing, LISTED_FIELDS } from '../delivery-schemas.ts';
import { orNull, text, timestamp } from '../fields.ts';

/*
 * Shapes of the public API for channels (decisions 0012, Channels). A schema of an answer builds it: a field
 * that it does not name never leaves the service.
 */

const ADDRESS = { error: 'must be given for the kind http and no other', path: ['url'] };

/**
 * The rules of a URL are those of `receiver-url.ts`; they need the place's policy, so the use case applies
 * them.
 */
export const CreateChannel = z
  .object({ kind: ChannelKind, name: text(200), url: z.optional(z.string()) })
  .check(z.refine(({ kind, url }) => (kind === 'http') === (url !== undefined), ADDRESS));

/**
 * What concerns deliveries is as at an endpoint, and at a web widget, which has none, as at one that nothing
 * went wrong with.
 */
export const Channel = z.object({
  id: ChannelId,
  kind: ChannelKind,
  name: z.string(),
  url: orNull(z.string()),
  status: EndpointStatus,
  consecutiveFailures: z.int(),
  failing: orNull(Failing),
  disabledAt: orNull(timestamp),
  disabledReason: orNull(DisabledReason),
  createdAt: timestamp,
});
/** Only the creation's answer has the secret, and only for the kind `http`. */
export const CreatedChannel = z.extend(Channel, { secret: orNull(z.string()) });

export const ChannelDelivery = z.extend(z.object({ id: DeliveryId, channelId: ChannelId }), DELIVERY_FIELDS);
export const ListedChannelDelivery = z.extend(ChannelDelivery, LISTED_FIELDS);
export const ChannelDeliveryWithAttempts = z.extend(ChannelDelivery, ATTEMPTS_FIELDS);

export const ChannelParams = z.object({ id: ChannelId });
export const ChannelDeliveryParams = z.object({ id: ChannelId, deliveryId: DeliveryId });
