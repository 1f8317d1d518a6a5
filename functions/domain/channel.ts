import * as z from 'zod/mini';
import type { Conversation, Message } from './conversation.ts';
import { Endpoint } from './endpoint.ts';
import { buildEvent, type OutboxEvent, RelayedRole } from './events.ts';
import { ChannelId, channelEventId, type EventId, OrgId } from './ids.ts';
import type { Tenant } from './tenant.ts';
import type { TraceId } from './trace.ts';

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

/** Messages are sent to its URL. To the delivery engine its row is that of an endpoint, which subscribes to nothing. */
export const HttpChannel = z.extend(Endpoint, {
  id: ChannelId,
  kind: z.literal('http'),
  name: z.string(),
});
export type HttpChannel = z.infer<typeof HttpChannel>;

/** A place where conversations happen, and where the words of agents and assistants have to get to. */
export const Channel = z.discriminatedUnion('kind', [WebWidgetChannel, HttpChannel]);
export type Channel = z.infer<typeof Channel>;

/** The channel that a conversation says it takes place on. Undefined when what it says is a label of the customer's own. */
export const channelIdOf = ({ channelId }: Pick<Conversation, 'channelId'>): ChannelId | undefined =>
  ChannelId.safeParse(channelId).data;

/**
 * The event that hands a message on to its conversation's channel. Undefined when nothing is to be sent: to a web widget, from a user, or
 * not for the user's eyes. It is the same event, to the byte, however often it is built.
 * @param cause the event that told of the message
 */
export function relayed(
  channel: Channel,
  conversation: Conversation,
  message: Message,
  { id, tenant, createdAt, traceId }: { id: EventId; tenant: Tenant; createdAt: string; traceId?: TraceId },
): OutboxEvent | undefined {
  const role = RelayedRole.safeParse(message.role);
  if (channel.kind !== 'http' || !role.success) return undefined;
  return buildEvent(
    'channel.message',
    {
      channelId: channel.id,
      conversationId: conversation.id,
      messageId: message.id,
      externalUserId: conversation.externalUserId,
      role: role.data,
      content: message.content,
    },
    { tenant, now: new Date(createdAt), onlyTo: channel.id, id: channelEventId(id, channel.id), traceId },
  );
}
