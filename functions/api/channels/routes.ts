import * as z from 'zod/mini';
import { ChannelId, DeliveryId, RedeliveryJobId, Timestamp } from '../../aws/ids.ts';
import type { Route } from '../../http/route.ts';
import { ChannelKind } from '../../receivers/channels.ts';
import { DisabledReason, EndpointStatus } from '../../receivers/endpoint.ts';
import {
  ATTEMPTS_FIELDS,
  DELIVERY_FIELDS,
  Failing,
  fault,
  LISTED_FIELDS,
  orNull,
  PageQuery,
  receiverUrl,
  text,
} from '../fields.ts';
import {
  CHANNELS,
  listDeliveriesRoute,
  listRedeliveriesRoute,
  REDELIVERY_FIELDS,
  readDeliveryRoute,
  readRedeliveryRoute,
  resendRoute,
  STATS_FIELDS,
  startRedeliveryRoute,
  statsRoute,
  stopRedeliveryRoute,
  TestEvent,
} from '../receiver-routes.ts';

const ADDRESS = {
  error: 'must be set for the kind http and for no other kind',
  path: ['url'],
  params: fault('not_allowed'),
};

export const CreateChannel = z
  .strictObject({ kind: ChannelKind, name: text(200), url: z.optional(receiverUrl) })
  .check(z.refine(({ kind, url }) => (kind === 'http') === (url !== undefined), ADDRESS));

/** Only the name of a `web_widget`, to which nothing is sent. */
export const UpdateChannel = z.strictObject({
  name: z.optional(text(200)),
  url: z.optional(receiverUrl),
  paused: z.optional(z.boolean()),
});

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
  pausedAt: orNull(Timestamp),
  disabledAt: orNull(Timestamp),
  disabledReason: orNull(DisabledReason),
  createdAt: Timestamp,
});
/** The only response with the secret, which only the kind `http` has. */
export const CreatedChannel = z.extend(Channel, { secret: orNull(z.string()) });

export const ChannelRedelivery = z.extend(
  z.object({ id: RedeliveryJobId, channelId: ChannelId }),
  REDELIVERY_FIELDS,
);
/** With the redelivery job that the request has started. */
export const UpdatedChannel = z.extend(Channel, { redelivery: orNull(ChannelRedelivery) });
export const ChannelStats = z.extend(z.object({ channelId: ChannelId }), STATS_FIELDS);

export const ChannelDelivery = z.extend(z.object({ id: DeliveryId, channelId: ChannelId }), DELIVERY_FIELDS);
export const ListedChannelDelivery = z.extend(ChannelDelivery, LISTED_FIELDS);
export const ChannelDeliveryWithAttempts = z.extend(ChannelDelivery, ATTEMPTS_FIELDS);

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
  dashboard: 'member',
  query: PageQuery,
  success: { status: 200, data: z.array(Channel) },
} as const satisfies Route;

export const readChannel = {
  name: 'read-channel',
  method: 'GET',
  path: '/v1/channels/{id}',
  scope: 'read:conversations',
  dashboard: 'member',
  params: CHANNELS.params,
  success: { status: 200, data: Channel },
} as const satisfies Route;

export const updateChannel = {
  name: 'update-channel',
  method: 'PATCH',
  path: '/v1/channels/{id}',
  scope: 'write:conversations',
  dashboard: 'admin',
  audit: 'channel.updated',
  params: CHANNELS.params,
  body: UpdateChannel,
  success: { status: 200, data: UpdatedChannel },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const deleteChannel = {
  name: 'delete-channel',
  method: 'DELETE',
  path: '/v1/channels/{id}',
  scope: 'write:conversations',
  audit: 'channel.deleted',
  params: CHANNELS.params,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const listChannelDeliveries = /* @__PURE__ */ listDeliveriesRoute(
  'channel-deliveries',
  CHANNELS,
  ListedChannelDelivery,
);

export const readChannelDelivery = /* @__PURE__ */ readDeliveryRoute(
  'read-channel-delivery',
  CHANNELS,
  ChannelDeliveryWithAttempts,
);

export const testChannel = {
  name: 'test-channel',
  method: 'POST',
  path: '/v1/channels/{id}/test',
  scope: 'write:conversations',
  dashboard: 'admin',
  idempotency: 'required',
  audit: 'none',
  params: CHANNELS.params,
  success: { status: 202, data: TestEvent },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const readChannelStats = /* @__PURE__ */ statsRoute('read-channel-stats', CHANNELS, ChannelStats);

export const retryChannelDelivery = /* @__PURE__ */ resendRoute(
  'retry-channel-delivery',
  'retry',
  CHANNELS,
  ChannelDelivery,
);

export const redeliverChannelDelivery = /* @__PURE__ */ resendRoute(
  'redeliver-to-channel',
  'redeliver',
  CHANNELS,
  ChannelDelivery,
);

export const startChannelRedelivery = /* @__PURE__ */ startRedeliveryRoute(
  'start-channel-job',
  CHANNELS,
  ChannelRedelivery,
);

export const listChannelRedeliveries = /* @__PURE__ */ listRedeliveriesRoute(
  'list-channel-jobs',
  CHANNELS,
  ChannelRedelivery,
);

export const readChannelRedelivery = /* @__PURE__ */ readRedeliveryRoute(
  'read-channel-job',
  CHANNELS,
  ChannelRedelivery,
);

export const stopChannelRedelivery = /* @__PURE__ */ stopRedeliveryRoute('stop-channel-job', CHANNELS);
