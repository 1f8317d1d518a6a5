import type { Message } from '../../domain/conversation.ts';
import { requirePermit } from '../../domain/gate.ts';
import { messageStore } from '../../store/conversations.ts';
import { getStart } from '../../store/following.ts';
import type { Page } from '../../store/pages.ts';
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
