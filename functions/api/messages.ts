import { newId } from '../aws/ids.ts';
import {
  applyStateChange,
  ChannelMessageRole,
  type Conversation,
  isOutdated,
  type Message,
} from '../conversations/conversations.ts';
import { buildEvent } from '../events/events.ts';
import { type ApiRequest, retryOnConflict } from '../http/api.ts';
import type { Effect } from '../http/idempotency.ts';
import { type Problem, refusals } from '../http/problem.ts';
import type { Reply, Success } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { buildChannelMessage, parseChannelId } from '../receivers/channels.ts';
import { channels, conversations, messages, outbox } from './stores.ts';

type Refusal = Problem<'NOT_FOUND' | 'SERVICE_UNAVAILABLE', never>;

/**
 * Reads the conversation before the transaction, because transactions on one item contend. A message writes
 * it to reopen it, and for `updatedAt` once a minute, where it gives way to any other write of it. One
 * resolved after the read stays resolved. For an `http` channel the transaction also adds the event that
 * delivers the message, even in a sandbox, whose requests the gate stops.
 * @param find reads the conversation again after a conflict, which means that it has changed since
 */
export const recordMessage = <P extends Problem>(
  request: Pick<ApiRequest<Route>, 'tenant' | 'now' | 'traceId' | 'kept'> & { effect: Effect<P | Refusal> },
  find: () => Promise<Conversation | undefined>,
  body: Pick<Message, 'role' | 'content'>,
  toReply: (message: Message) => Success,
): Promise<Reply<P | Refusal>> =>
  retryOnConflict<P | Refusal>(async (again) => {
    const { tenant, now, kept, effect } = request;
    const conversation = await find();
    if (!conversation) return refusals.notFound('conversation');
    const message: Message = {
      id: newId('msg', now),
      conversationId: conversation.id,
      ...body,
      createdAt: now.toISOString(),
    };
    const event = buildEvent('message.received', { ...message, messageId: message.id }, request);
    // Only messages of assistants and agents are delivered to a channel.
    const channelId = ChannelMessageRole.safeParse(message.role).success
      ? parseChannelId(conversation)
      : undefined;
    const channel = channelId && (await channels.find(tenant.orgId, channelId));
    const toChannel = channel && buildChannelMessage(channel, conversation, message, request);
    const move = { kind: 'reopen', at: now } as const;
    const reopened = applyStateChange(conversation, move)
      ? [conversations.changeState(tenant, conversation.id, move)]
      : [];
    const touched =
      reopened.length === 0 && isOutdated(conversation, now)
        ? [conversations.touch(tenant, conversation, now)]
        : [];
    const events = toChannel ? [event, toChannel] : [event];
    return effect(
      toReply(message),
      [messages.add(tenant, message, kept), ...events.map(outbox.append), ...reopened, ...touched],
      { 'conversation-changed': again },
    );
  });
