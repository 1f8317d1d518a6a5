import * as z from 'zod/mini';
import { ChannelId, OrgId, Timestamp, type TraceId } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { get, type Table } from '../aws/table.ts';
import {
  buildAddition,
  buildRemoval,
  type Change,
  type Counter,
  decreaseCount,
  increaseCount,
} from '../aws/transaction.ts';
import { ChannelMessageRole, type Conversation, type Message } from '../conversations/conversations.ts';
import { buildEvent, type OutboxEvent } from '../events/events.ts';
import { keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { Endpoint, type EndpointChange, getFailureStatus } from './endpoint.ts';
import { buildSettingsUpdate } from './endpoints.ts';

/**
 * Maximum number of channels of an organization. A sandbox reset writes all channels and endpoints in one
 * transaction, which has at most 100 writes.
 */
export const MAX_CHANNELS = 40;

export const ChannelKind = z.enum(['web_widget', 'http']);

/** Visitors fetch messages from the service; nothing is sent. */
export const WebWidgetChannel = z.object({
  id: ChannelId,
  orgId: OrgId,
  kind: z.literal('web_widget'),
  name: z.string(),
  createdAt: Timestamp,
});
export type WebWidgetChannel = z.infer<typeof WebWidgetChannel>;

/** Messages are sent to its URL. For the delivery engine its row is an endpoint without subscriptions. */
export const HttpChannel = z.extend(Endpoint, { id: ChannelId, kind: z.literal('http'), name: z.string() });
export type HttpChannel = z.infer<typeof HttpChannel>;

/** Where conversations take place and messages of agents and assistants are shown. */
export const Channel = z.discriminatedUnion('kind', [WebWidgetChannel, HttpChannel]);
export type Channel = z.infer<typeof Channel>;

/** Returns the channel id of a conversation; undefined when `channelId` is the customer's own label. */
export const parseChannelId = ({ channelId }: Pick<Conversation, 'channelId'>): ChannelId | undefined =>
  ChannelId.safeParse(channelId).data;

/**
 * Builds the event that delivers a message to its conversation's channel.
 * @returns undefined for a web widget, and for a message that the external user must not see
 */
export function buildChannelMessage(
  channel: Channel,
  { id: conversationId, externalUserId }: Conversation,
  { id: messageId, role, content }: Message,
  context: { tenant: Tenant; now: Date; traceId?: TraceId | undefined },
): OutboxEvent | undefined {
  const parsedRole = ChannelMessageRole.safeParse(role);
  if (channel.kind !== 'http' || !parsedRole.success) return undefined;
  return buildEvent(
    'channel.message',
    { channelId: channel.id, conversationId, messageId, externalUserId, role: parsedRole.data, content },
    { ...context, onlyTo: channel.id },
  );
}

/** The channel as the API returns it. A web widget has no delivery state. */
export const toChannelView = (channel: Channel) =>
  channel.kind === 'http'
    ? { ...channel, failing: getFailureStatus(channel) }
    : ({ ...channel, status: 'active', consecutiveFailures: 0 } as const);

const parse = (row: unknown): Channel => Channel.parse(row);

const getCounter = (orgId: OrgId): Counter => ({
  key: keys.channelCount(orgId),
  things: 'channels',
  limit: MAX_CHANNELS,
  refusals: { full: 'channel-limit', missing: 'channel-missing' },
});

/**
 * Channels of an organization, with a counter that enforces their limit. The endpoint store writes the
 * delivery state of `http` channels to the same rows.
 */
export function channelStore(service: Table) {
  return {
    async find(orgId: OrgId, id: ChannelId): Promise<Channel | undefined> {
      const row = await get(service, keys.endpoint(orgId, id));
      return row && parse(row);
    },

    list(orgId: OrgId, page: PageRequest): Promise<Page<Channel>> {
      return readPage(service, [keys.channels(orgId)], page, { parse });
    },

    /** The row of a channel to change or remove, which may be unreadable as a channel. */
    findToChange(orgId: OrgId, id: ChannelId): Promise<Record<string, unknown> | undefined> {
      return get(service, keys.endpoint(orgId, id));
    },

    /** Adds and counts a channel; refused as `channel-limit` at the limit. */
    add(channel: Channel): Change[] {
      return [
        increaseCount(service, getCounter(channel.orgId)),
        buildAddition(service, { ...keys.endpoint(channel.orgId, channel.id), ...channel }),
      ];
    },

    /** @param row as it was read; `settings` at least one */
    buildUpdate: (orgId: OrgId, id: ChannelId, row: Record<string, unknown>, settings: EndpointChange) =>
      buildSettingsUpdate(service, { orgId, id, row }, settings),

    /** Removes and uncounts a channel; refused as `channel-missing` when it does not exist. */
    remove(orgId: OrgId, id: ChannelId): Change[] {
      const counter = getCounter(orgId);
      return [
        buildRemoval(service, keys.endpoint(orgId, id), counter.refusals),
        decreaseCount(service, counter),
      ];
    },
  };
}
