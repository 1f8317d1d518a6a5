import type { Message } from '../../domain/conversation.ts';
import { requirePermit } from '../../domain/gate.ts';
import { fitIntoPage, success } from '../../platform/reply.ts';
import { messageStore } from '../../store/conversations.ts';
import { tables } from '../route-handler.ts';
import { visitorGate, visitorRouteHandler } from '../visitor-route-handler.ts';
import * as routes from './routes.ts';
import { VisibleRole } from './schemas.ts';

const messages = messageStore(tables.service);

/**
 * Returns messages that a visitor has not read; none in a sandbox (docs/specification.md, Sandbox rules). The
 * cursor is the last message examined, so that messages of hidden roles are examined once.
 */
export const handler = visitorRouteHandler(
  routes.readWidgetMessages,
  async ({ tenant, conversationId, query: { after, limit } }) => {
    const found = await visitorGate<Message[]>(tenant.orgId, {
      live(permit) {
        requirePermit(permit);
        return messages.after(tenant, conversationId, { after, limit });
      },
      sandbox: async () => [],
    });
    const page = fitIntoPage(found, (message) => message);
    return success({
      messages: page.filter(({ role }) => VisibleRole.safeParse(role).success),
      after: page.at(-1)?.id ?? after,
    });
  },
);
