import { readEnvironment, VisitorEnvironment } from '../aws/config.ts';
import type { Change } from '../aws/transaction.ts';
import { apiHandler } from '../http/api.ts';
import { visitorAuthentication } from '../http/authentication.ts';
import { visitorLimiter } from '../http/limiter.ts';
import { visitorLimits } from '../http/rate-limit.ts';
import { rateWindowStore } from '../http/rate-windows.ts';
import type { UseCase } from '../http/request.ts';
import type { Route } from '../http/route.ts';
import { gate } from '../tenancy/gate.ts';
import { organizationStates } from '../tenancy/organization-states.ts';
import { readOrganizationState } from '../tenancy/organizations.ts';
import { getSealedPart, openVisitorToken } from '../tenancy/visitor-token.ts';
import { unsealWithKeys } from './pages.ts';
import { ports, tables } from './route-handler.ts';

/*
 * Routes for visitors of web widgets: visitor tokens instead of API keys, separate rate limits, and the gate,
 * because responses leave the service.
 */

const organizations = organizationStates(readOrganizationState(tables.service));
const authenticate = visitorAuthentication({
  findVisit: (token) =>
    unsealWithKeys(getSealedPart(token), (ring) => openVisitorToken(ring, token, ports.now())),
  organizations: organizations,
});
const limiter = visitorLimiter(
  rateWindowStore(tables.rates),
  visitorLimits(readEnvironment(VisitorEnvironment)),
  ports.organization,
);

export const visitorGate = gate(organizations.of);

export const visitorRouteHandler = <R extends Route & { readonly visitor: true }>(
  route: R,
  useCase: UseCase<R, Change>,
) => apiHandler(route, { ...ports, limiter, authenticate }, useCase);
