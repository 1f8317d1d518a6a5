import { gate } from '../domain/gate.ts';
import { sealedPartOf, visitOf } from '../domain/visitor-token.ts';
import { readEnvironment, VisitorEnvironment, visitorLimits } from '../platform/config.ts';
import { apiHandler } from '../platform/pipeline/api.ts';
import { visitorAuthentication } from '../platform/pipeline/authentication.ts';
import { visitorLimiter } from '../platform/pipeline/rate-limit.ts';
import type { UseCase } from '../platform/pipeline/request.ts';
import type { Route } from '../platform/route.ts';
import { standings } from '../platform/standings.ts';
import { standingOf } from '../store/organizations.ts';
import { rateWindowStore } from '../store/rate-windows.ts';
import type { Change } from '../store/transaction.ts';
import { opening } from './pages.ts';
import { ports, tables } from './route-handler.ts';

/*
 * What the routes for visitors of web widgets add to `route-handler.ts`: tokens of a conversation instead of API
 * keys, budgets of their own, and the gate, because a widget is outside of the service.
 */

const organizations = standings(standingOf(tables.service));
const authenticate = visitorAuthentication({
  visitOf: (token) => opening(sealedPartOf(token), (ring) => visitOf(ring, token, ports.now())),
  standings: organizations,
});
const limiter = visitorLimiter(
  rateWindowStore(tables.rates),
  visitorLimits(readEnvironment(VisitorEnvironment)),
  ports.organization,
);

export const visitorGate = gate(organizations.of);

/** The Lambda handler of a route for visitors. */
export const visitorRouteHandler = <R extends Route & { readonly visitor: true }>(
  route: R,
  useCase: UseCase<R, Change>,
) => apiHandler(route, { ...ports, limiter, authenticate }, useCase);
