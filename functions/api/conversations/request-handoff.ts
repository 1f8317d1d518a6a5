import { newId } from '../../aws/ids.ts';
import { applyStateChange, type Escalation } from '../../conversations/conversations.ts';
import { buildEvent } from '../../events/events.ts';
import { retryOnConflict } from '../../http/api.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { conversations, escalations, outbox } from '../stores.ts';
import * as routes from './routes.ts';

/**
 * Handing off a conversation again has no effect, and returns the open escalation (docs/specification.md,
 * Conversations). One of several concurrent requests changes it; the others read the conversation again.
 */
export const handler = routeHandler(
  routes.requestHandoff,
  ({ tenant, params, body, now, traceId, kept, effect }) =>
    retryOnConflict(async (again) => {
      const conversation = await conversations.find(tenant, params.id);
      if (!conversation) return refusals.notFound('conversation');
      if (conversation.status === 'resolved') return refusals.resolvedConversation;
      const move = { kind: 'hand-off', at: now } as const;
      if (!applyStateChange(conversation, move)) {
        const open = await escalations.latest(tenant, conversation.id);
        return effect(success(open, { status: routes.requestHandoff.success.unchanged }), [
          ...(kept.keptAs ? [conversations.link(tenant, conversation.id, newId('evt', now), kept)] : []),
        ]);
      }
      const escalation: Escalation = {
        id: newId('esc', now),
        conversationId: conversation.id,
        ...body,
        createdAt: now.toISOString(),
      };
      const data = { ...escalation, escalationLogId: escalation.id };
      const location = `/api/v1/conversations/${conversation.id}/escalations/${escalation.id}`;
      return effect(
        success(escalation, { location }),
        [
          conversations.changeState(tenant, conversation.id, move),
          escalations.add(tenant, escalation, kept),
          outbox.append(buildEvent('handoff.requested', data, { tenant, now, traceId })),
        ],
        { 'conversation-changed': again },
      );
    }),
);
