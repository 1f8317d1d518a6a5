import { getStart, type Page } from '../../aws/pages.ts';
import type { Message } from '../../conversations/conversation.ts';
import { messageStore } from '../../conversations/conversations.ts';
import { requirePermit } from '../../tenancy/gate.ts';
import { paginate } from '../pages.ts';
import { tables } from '../route-handler.ts';
import { visitorGate, visitorRouteHandler } from '../visitor-route-handler.ts';
import * as routes from './routes.ts';
import { VisibleRole } from './schemas.ts';

const messages = messageStore(tables.service);

/**
 * Returns the messages that a visitor has not read; none in a sandbox (docs/specification.md, Sandbox rules).
 * Hidden messages count as read too.
 */
export const handler = visitorRouteHandler(routes.readWidgetMessages, (request) => {
  const { tenant, conversationId, now } = request;
  return paginate(
    routes.readWidgetMessages,
    request,
    async (page) => {
      const { items, ...position } = await visitorGate<Page<Message>>(tenant.orgId, {
        live(permit) {
          requirePermit(permit);
          return messages.follow(tenant, conversationId, page, now);
        },
        sandbox: async () => ({ items: [], follow: page.after ?? getStart('msg') }),
      });
      return { items: items.filter(({ role }) => VisibleRole.safeParse(role).success), ...position };
    },
    [conversationId],
  );
});
