import * as z from 'zod/mini';
import { ChannelId, DeliveryId, Timestamp } from '../../aws/ids.ts';
import type { Route } from '../../http/route.ts';
import { ChannelKind } from '../../receivers/channels.ts';
import { DisabledReason, EndpointStatus } from '../../receivers/endpoint.ts';
import {
  ATTEMPTS_FIELDS,
  DELIVERY_FIELDS,
  Failing,
  fault,
  LISTED_FIELDS,
  ListDeliveriesQuery,
  orNull,
  PageQuery,
  receiverUrl,
  text,
} from '../fields.ts';

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

const ChannelParams = z.object({ id: ChannelId });

export const createChannel = {
  name: 'create-channel',
  method: 'POST',
  path: '/v1/channels',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'channel.created',
  body: CreateChannel,
  success: { status: 201, data: CreatedChannel },
  refusals: ['LIMIT_EXCEEDED', 'GONE'],
} as const satisfies Route;

export const listChannels = {
  name: 'list-channels',
  method: 'GET',
  path: '/v1/channels',
  scope: 'read:conversations',
  query: PageQuery,
  success: { status: 200, data: z.array(Channel) },
} as const satisfies Route;

export const readChannel = {
  name: 'read-channel',
  method: 'GET',
  path: '/v1/channels/{id}',
  scope: 'read:conversations',
  params: ChannelParams,
  success: { status: 200, data: Channel },
} as const satisfies Route;

export const deleteChannel = {
  name: 'delete-channel',
  method: 'DELETE',
  path: '/v1/channels/{id}',
  scope: 'write:conversations',
  audit: 'channel.deleted',
  params: ChannelParams,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const listChannelDeliveries = {
  name: 'list-channel-deliveries',
  method: 'GET',
  path: '/v1/channels/{id}/deliveries',
  scope: 'read:conversations',
  params: ChannelParams,
  query: ListDeliveriesQuery,
  success: { status: 200, data: z.array(ListedChannelDelivery) },
} as const satisfies Route;

export const readChannelDelivery = {
  name: 'read-channel-delivery',
  method: 'GET',
  path: '/v1/channels/{id}/deliveries/{deliveryId}',
  scope: 'read:conversations',
  params: z.object({ id: ChannelId, deliveryId: DeliveryId }),
  success: { status: 200, data: ChannelDeliveryWithAttempts },
} as const satisfies Route;
