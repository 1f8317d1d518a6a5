import { newId } from '../../aws/ids.ts';
import { applyStateChange } from '../../conversations/conversations.ts';
import { buildEvent } from '../../events/events.ts';
import { retryOnConflict } from '../../http/api.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { conversations, outbox } from '../stores.ts';
import * as routes from './routes.ts';

/**
 * Resolving a resolved conversation has no effect and sends no event (docs/specification.md, Conversations).
 * One of several concurrent requests succeeds; the others read the conversation again.
 */
export const handler = routeHandler(routes.resolveConversation, (request) =>
  retryOnConflict(async (again) => {
    const { tenant, params, body, now, kept, effect } = request;
    const conversation = await conversations.find(tenant, params.id);
    if (!conversation) return refusals.notFound('conversation');
    const move = { kind: 'resolve', by: body.resolvedBy, at: now } as const;
    const resolved = applyStateChange(conversation, move);
    if (!resolved)
      return effect(success(conversation), [
        ...(kept.keptAs ? [conversations.link(tenant, conversation.id, newId('evt', now), kept)] : []),
      ]);
    const data = { conversationId: conversation.id, resolvedBy: body.resolvedBy };
    const event = buildEvent('conversation.resolved', data, request);
    return effect(
      success(resolved),
      [
        conversations.changeState(tenant, conversation.id, move),
        conversations.link(tenant, conversation.id, event.id, kept),
        outbox.append(event),
      ],
      { 'conversation-changed': again },
    );
  }),
);
