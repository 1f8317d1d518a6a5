import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import { ListDeliveriesQuery } from '../delivery-schemas.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const createChannel = {
  name: 'create-channel',
  method: 'POST',
  path: '/v1/channels',
  summary: 'Create a channel',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'channel.created',
  params: shared.NoParams,
  query: shared.NoQuery,
  body: schema.CreateChannel,
  success: { status: 201, data: schema.CreatedChannel },
  refusals: ['LIMIT_EXCEEDED', 'GONE'],
} as const satisfies Route;

export const listChannels = {
  name: 'list-channels',
  method: 'GET',
  path: '/v1/channels',
  summary: 'List channels',
  scope: 'read:conversations',
  params: shared.NoParams,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.Channel) },
} as const satisfies Route;

export const readChannel = {
  name: 'read-channel',
  method: 'GET',
  path: '/v1/channels/{id}',
  summary: 'Read a channel',
  scope: 'read:conversations',
  params: schema.ChannelParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Channel },
} as const satisfies Route;

export const deleteChannel = {
  name: 'delete-channel',
  method: 'DELETE',
  path: '/v1/channels/{id}',
  summary: 'Delete a channel',
  scope: 'write:conversations',
  audit: 'channel.deleted',
  params: schema.ChannelParams,
  query: shared.NoQuery,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const listChannelDeliveries = {
  name: 'list-channel-deliveries',
  method: 'GET',
  path: '/v1/channels/{id}/deliveries',
  summary: 'List the deliveries to a channel',
  scope: 'read:conversations',
  params: schema.ChannelParams,
  query: ListDeliveriesQuery,
  success: { status: 200, data: z.array(schema.ListedChannelDelivery) },
} as const satisfies Route;

export const readChannelDelivery = {
  name: 'read-channel-delivery',
  method: 'GET',
  path: '/v1/channels/{id}/deliveries/{deliveryId}',
  summary: 'Read a delivery to a channel with its attempts',
  scope: 'read:conversations',
  params: schema.ChannelDeliveryParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.ChannelDeliveryWithAttempts },
} as const satisfies Route;
