import { newId } from '../../aws/ids.ts';
import type { Conversation } from '../../conversations/conversations.ts';
import { buildEvent } from '../../events/events.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { parseChannelId } from '../../receivers/channels.ts';
import { routeHandler } from '../route-handler.ts';
import { channels, conversations, outbox } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.createConversation, async (request) => {
  const { tenant, body, now, kept, effect } = request;
  // A text in another form is the customer's own label.
  const channelId = parseChannelId(body);
  if (channelId !== undefined && (await channels.find(tenant.orgId, channelId)) === undefined)
    return refusals.unknownChannel;
  const conversation: Conversation = {
    id: newId('cnv', now),
    ...body,
    status: 'open',
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
  };
  const data = { ...conversation, conversationId: conversation.id };
  return effect(success(conversation, { location: `/api/v1/conversations/${conversation.id}` }), [
    ...conversations.add(tenant, { ...conversation, ...kept }),
    outbox.append(buildEvent('conversation.created', data, request)),
  ]);
});
