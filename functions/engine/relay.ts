import * as z from 'zod/mini';
import type { BusEvent } from '../domain/bus.ts';
import { type Channel, channelIdOf, relayed } from '../domain/channel.ts';
import type { Conversation, Message } from '../domain/conversation.ts';
import { EVENT_CATALOGUE, type OutboxEvent } from '../domain/events.ts';
import { type ChannelId, type ConversationId, EventId, type MessageId, type OrgId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { traced } from '../domain/trace.ts';
import { generations, type Standings } from './generations.ts';

export interface RelayPorts {
  standings: Standings;
  conversations: { find(tenant: Tenant, id: ConversationId): Promise<Conversation | undefined> };
  messages: {
    find(tenant: Tenant, conversation: ConversationId, id: MessageId): Promise<Message | undefined>;
  };
  channels: { find(orgId: OrgId, id: ChannelId): Promise<Channel | undefined> };
  outbox: { add(event: OutboxEvent): Promise<'added' | 'exists'> };
}

/** The event tells of something that is not there, although no reset has wiped it. Looking again later may help. */
export class NothingToRelay extends Error {
  override name = 'NothingToRelay';
}

const MessageReceived = z.object({
  id: EventId,
  type: z.literal('message.received'),
  data: EVENT_CATALOGUE['message.received'].data,
});

/**
 * Hands a message on to the channel of its conversation: adds to the outbox the event that tells that channel alone. From there on it is
 * delivered like any other. It may be repeated and may crash anywhere: what it adds has the same identifier each time.
 *
 * It does so for sandboxes as well: the gate stands between the dispatcher and the receivers, and lets none of their requests out.
 * @throws NothingToRelay, and whatever the stores throw
 */
export function relay({ standings, conversations, messages, channels, outbox }: RelayPorts) {
  const generationOf = generations(standings);

  return async (event: BusEvent): Promise<void> => {
    const { id, data } = MessageReceived.parse(event);
    const tenant = { orgId: event.orgId, generation: event.generation };
    if ((await generationOf(tenant)) === 'over') return;
    const [conversation, message] = await Promise.all([
      conversations.find(tenant, data.conversationId),
      messages.find(tenant, data.conversationId, data.messageId),
    ]);
    if (conversation === undefined || message === undefined)
      throw new NothingToRelay(`there is no message ${data.messageId} in ${data.conversationId}`);
    const channelId = channelIdOf(conversation);
    const channel = channelId && (await channels.find(tenant.orgId, channelId));
    const told =
      channel &&
      relayed(channel, conversation, message, {
        id,
        tenant,
        createdAt: event.createdAt,
        ...traced(event.traceId),
      });
    if (told) await outbox.add(told);
  };
}
