import { readEnvironment, VisitorEnvironment } from '../../aws/config.ts';
import { FIRST_POSITION, type Page } from '../../aws/pages.ts';
import { isErasedConversation, type Message } from '../../conversations/conversations.ts';
import type { UseCase } from '../../http/api.ts';
import { visitorAuthentication } from '../../http/authentication.ts';
import { rateWindowStore, visitorLimiter } from '../../http/limiter.ts';
import { visitorLimits } from '../../http/rate-limit.ts';
import { gate, requirePermit } from '../../tenancy/gate.ts';
import { organizationStates, readOrganizationState } from '../../tenancy/organizations.ts';
import { getSealedPart, openVisitorToken } from '../../tenancy/visitor-token.ts';
import { paginate, unsealWithKeys } from '../pages.ts';
import { ports, routeHandler, tables } from '../route-handler.ts';
import { messages } from '../stores.ts';
import * as routes from './routes.ts';

/*
 * Visitors of web widgets have tokens instead of API keys and rate limits of their own, and pass the gate,
 * because responses leave the service.
 */
const organizations = organizationStates(readOrganizationState(tables.service));
const isErased = isErasedConversation(tables.service);
const passGate = gate(organizations.of);
const authenticate = visitorAuthentication(
  (token) => unsealWithKeys(getSealedPart(token), (ring) => openVisitorToken(ring, token, ports.now())),
  organizations.of,
  (visit) => isErased(visit, visit.conversationId),
);
const limiter = visitorLimiter(
  rateWindowStore(tables.rates),
  visitorLimits(readEnvironment(VisitorEnvironment)),
  ports.organization,
);

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
