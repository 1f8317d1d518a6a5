import type { UseCase } from '../http/api.ts';
import type { Route } from '../http/route.ts';
import { routeHandler } from './route-handler.ts';
import { authenticate } from './sessions.ts';

/** Creates the Lambda handler of a route of the organization settings. */
export const sessionRouteHandler = <R extends Route>(route: R, useCase: UseCase<R>) =>
  routeHandler(route, useCase, { authenticate });
