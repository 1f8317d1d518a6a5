import * as z from 'zod/mini';
import { ChannelId, DeliveryId, Timestamp } from '../../aws/ids.ts';
import { ChannelKind } from '../../receivers/channel.ts';
import { DisabledReason, EndpointStatus } from '../../receivers/endpoint.ts';
import { ATTEMPTS_FIELDS, DELIVERY_FIELDS, Failing, LISTED_FIELDS } from '../delivery-schemas.ts';
import { fault, orNull, receiverUrl, text } from '../fields.ts';

const ADDRESS = {
  error: 'must be set for the kind http and for no other kind',
  path: ['url'],
  params: fault('not_allowed'),
};

export const CreateChannel = z
  .strictObject({ kind: ChannelKind, name: text(200), url: z.optional(receiverUrl) })
  .check(z.refine(({ kind, url }) => (kind === 'http') === (url !== undefined), ADDRESS));

/** Fields that the audit log shows. */
export const CHANNEL_SETTINGS = ['kind', 'name', 'url'];

/**
 * With the delivery state of an endpoint. A web widget has no deliveries and shows that of a healthy
 * endpoint.
 */
export const Channel = z.object({
  id: ChannelId,
  kind: ChannelKind,
  name: z.string(),
  url: orNull(z.string()),
  status: EndpointStatus,
  consecutiveFailures: z.int(),
  failing: orNull(Failing),
  disabledAt: orNull(Timestamp),
  disabledReason: orNull(DisabledReason),
  createdAt: Timestamp,
});
/** The only response with the secret, which only the kind `http` has. */
export const CreatedChannel = z.extend(Channel, { secret: orNull(z.string()) });

export const ChannelDelivery = z.extend(z.object({ id: DeliveryId, channelId: ChannelId }), DELIVERY_FIELDS);
export const ListedChannelDelivery = z.extend(ChannelDelivery, LISTED_FIELDS);
export const ChannelDeliveryWithAttempts = z.extend(ChannelDelivery, ATTEMPTS_FIELDS);

export const ChannelParams = z.object({ id: ChannelId });
export const ChannelDeliveryParams = z.object({ id: ChannelId, deliveryId: DeliveryId });
