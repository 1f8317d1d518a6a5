import { FIRST_POSITION, type Page } from '../../aws/pages.ts';
import type { Message } from '../../conversations/conversations.ts';
import type { UseCase } from '../../http/api.ts';
import { gate, requirePermit } from '../../tenancy/gate.ts';
import { paginate } from '../pages.ts';
import { routeHandler } from '../route-handler.ts';
import { messages } from '../stores.ts';
import { authenticate, limiter, visitorOrganizations } from '../visitors.ts';
import * as routes from './routes.ts';

/** Responses leave the service. */
const passGate = gate(visitorOrganizations.of);

/**
 * Returns the messages that a visitor has not read; none in a sandbox (docs/specification.md, Sandbox rules).
 * Hidden messages count as read too.
 */
const readMessages: UseCase<typeof routes.readWidgetMessages> = (request) => {
  const { tenant, conversationId, now } = request;
  return paginate(
    routes.readWidgetMessages,
    request,
    async (page) => {
      const { items, ...position } = await passGate<Page<Message>>(tenant.orgId, {
        live(permit) {
          requirePermit(permit);
          return messages.follow(tenant, conversationId, page, now);
        },
        sandbox: async () => ({ items: [], follow: page.after ?? FIRST_POSITION }),
      });
      return { items: items.filter(({ role }) => routes.VisibleRole.safeParse(role).success), ...position };
    },
    [conversationId],
  );
};

export const handler = routeHandler(routes.readWidgetMessages, readMessages, { authenticate, limiter });
