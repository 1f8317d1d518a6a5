import * as z from 'zod/mini';
import { ChannelMessageRole, type Conversation, type Message } from './conversation.ts';
import { Endpoint, getFailureStatus } from './endpoint.ts';
import { buildEvent, type OutboxEvent } from './events.ts';
import { ChannelId, OrgId, type TraceId } from './ids.ts';
import type { Tenant } from './tenant.ts';

/** Channels an organization may have. */
export const MAX_CHANNELS = 50;

export const ChannelKind = z.enum(['web_widget', 'http']);
export type ChannelKind = z.infer<typeof ChannelKind>;

/** Visitors fetch their messages from the service: nothing is sent anywhere. */
export const WebWidgetChannel = z.object({
  id: ChannelId,
  orgId: OrgId,
  kind: z.literal('web_widget'),
  name: z.string(),
  createdAt: z.iso.datetime(),
});

export type WebWidgetChannel = z.infer<typeof WebWidgetChannel>;

/**
 * Messages are sent to its URL. To the delivery engine its row is that of an endpoint, which subscribes to
 * nothing.
 */
export const HttpChannel = z.extend(Endpoint, {
  id: ChannelId,
  kind: z.literal('http'),
  name: z.string(),
});
export type HttpChannel = z.infer<typeof HttpChannel>;

/** A place where conversations happen, and where the words of agents and assistants have to get to. */
export const Channel = z.discriminatedUnion('kind', [WebWidgetChannel, HttpChannel]);
export type Channel = z.infer<typeof Channel>;

/**
 * The channel that a conversation says it takes place on. Undefined when what it says is a label of the
 * customer's own.
 */
export const parseChannelId = ({ channelId }: Pick<Conversation, 'channelId'>): ChannelId | undefined =>
  ChannelId.safeParse(channelId).data;

/**
 * Builds the event that delivers a message to its conversation's channel.
 * @returns undefined for a web widget, which is sent nothing, or a message that the external user may not see
 */
export function buildChannelMessage(
  channel: Channel,
  { id: conversationId, externalUserId }: Conversation,
  { id: messageId, role, content }: Message,
  context: { tenant: Tenant; now: Date; traceId?: TraceId | undefined },
): OutboxEvent | undefined {
  const shown = ChannelMessageRole.safeParse(role);
  if (channel.kind !== 'http' || !shown.success) return undefined;
  return buildEvent(
    'channel.message',
    { channelId: channel.id, conversationId, messageId, externalUserId, role: shown.data, content },
    { ...context, onlyTo: channel.id },
  );
}

/** A channel as responses show it: with the state of its deliveries, of which a web widget has none. */
export const toChannelView = (channel: Channel) =>
  channel.kind === 'http'
    ? { ...channel, failing: getFailureStatus(channel) }
    : ({ ...channel, status: 'active', consecutiveFailures: 0 } as const);
