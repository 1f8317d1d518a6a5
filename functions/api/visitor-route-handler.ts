import { gate } from '../domain/gate.ts';
import { getSealedPart, openVisitorToken } from '../domain/visitor-token.ts';
import { readEnvironment, VisitorEnvironment, visitorLimits } from '../platform/config.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { apiHandler } from '../platform/pipeline/api.ts';
import { visitorAuthentication } from '../platform/pipeline/authentication.ts';
import { visitorLimiter } from '../platform/pipeline/rate-limit.ts';
import type { UseCase } from '../platform/pipeline/request.ts';
import type { Route } from '../platform/route.ts';
import { readOrganizationState } from '../store/organizations.ts';
import { rateWindowStore } from '../store/rate-windows.ts';
import type { Change } from '../store/transaction.ts';
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
