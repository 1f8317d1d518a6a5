import { readEnvironment, VisitorEnvironment } from '../aws/config.ts';
import { isErasedConversation } from '../conversations/conversations.ts';
import { visitorAuthentication } from '../http/authentication.ts';
import { rateWindowStore, visitorLimiter } from '../http/limiter.ts';
import { visitorLimits } from '../http/rate-limit.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';
import { getSealedPart, openVisitorToken } from '../tenancy/visitor-token.ts';
import { unsealWithKeys } from './pages.ts';
import { ports, tables } from './route-handler.ts';

/*
 * Visitors of web widgets have tokens instead of API keys, and rate limits of their own.
 */
export const visitorOrganizations = organizationStates(readOrganizationState(tables.service));

const isErased = isErasedConversation(tables.service);

export const authenticate = visitorAuthentication(
  (token) => unsealWithKeys(getSealedPart(token), (ring) => openVisitorToken(ring, token, ports.now())),
  visitorOrganizations.of,
  (visit) => isErased(visit, visit.conversationId),
);
export const limiter = visitorLimiter(
  rateWindowStore(tables.rates),
  visitorLimits(readEnvironment(VisitorEnvironment)),
  ports.organization,
);
