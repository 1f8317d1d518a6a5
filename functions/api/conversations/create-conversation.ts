import { parseChannelId } from '../../domain/channel.ts';
import type { Conversation } from '../../domain/conversation.ts';
import { buildEvent } from '../../domain/events.ts';
import { newId } from '../../domain/ids.ts';
import { problem } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { channelStore } from '../../store/channels.ts';
import { conversationStore } from '../../store/conversations.ts';
import { outboxStore } from '../../store/outbox.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);
const channels = channelStore(tables.service);
const outbox = outboxStore(tables.outbox);

export const handler = routeHandler(
  routes.createConversation,
  async ({ tenant, body, now, traceId, effect }) => {
    // A text in another form is the customer's own label.
    const channelId = parseChannelId(body);
    if (channelId !== undefined && (await channels.find(tenant.orgId, channelId)) === undefined)
      return problem(
        'VALIDATION_ERROR',
        'channelId does not match a channel of the organization. Create the channel first.',
      );
    const conversation: Conversation = {
      id: newId('cnv', now),
      channelId: body.channelId,
      externalUserId: body.externalUserId,
      status: 'open',
      createdAt: now.toISOString(),
    };
    const event = buildEvent(
      'conversation.created',
      { ...conversation, conversationId: conversation.id },
      { tenant, now, traceId },
    );
    return effect(success(conversation, { location: `/api/v1/conversations/${conversation.id}` }), [
      conversations.add(tenant, conversation),
      outbox.append(event),
    ]);
  },
);
