import type { Message } from '../domain/conversation.ts';
import { buildEvent } from '../domain/events.ts';
import { newId } from '../domain/ids.ts';
import { notFound, problem } from '../domain/problem.ts';
import { success } from '../platform/reply.ts';
import { conversationStore } from '../store/conversations.ts';
import { messageStore } from '../store/messages.ts';
import { outboxStore } from '../store/outbox.ts';
import { endpoint, tables } from './endpoint.ts';
import { routes } from './routes.ts';

const conversations = conversationStore(tables.service);
const messages = messageStore(tables.service);
const outbox = outboxStore(tables.outbox);

/**
 * The transaction holds new items only: that the conversation exists is read before it, because DynamoDB cancels
 * transactions that meet on one item, and all messages of a conversation would (architecture.md, Scale).
 */
export const handler = endpoint(routes.createMessage, async ({ tenant, params, body, now, effect }) => {
  const conversation = await conversations.find(tenant, params.id);
  if (!conversation) return notFound('conversation');
  const message: Message = {
    id: newId('msg', now),
    conversationId: conversation.id,
    role: body.role,
    content: body.content,
    createdAt: now.toISOString(),
  };
  const event = buildEvent('message.received', { ...message, messageId: message.id }, { tenant, now });
  const reopened = conversation.status === 'resolved' ? [conversations.reopen(tenant, conversation.id)] : [];
  return effect(success(message), [messages.add(tenant, message), outbox.append(event), ...reopened], {
    'conversation-changed': problem('CONFLICT', 'The conversation was changed at the same time. Try again.'),
  });
});
