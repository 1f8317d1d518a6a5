import { apiHandler } from '../platform/pipeline/api.ts';
import type { UseCase } from '../platform/pipeline/request.ts';
import type { Route } from '../platform/route.ts';
import type { Change } from '../store/transaction.ts';
import { ports } from './route-handler.ts';
import { authenticate } from './sessions.ts';

/**
 * Creates the Lambda handler of a route of the organization settings.
 * @param reveal adds data that is never stored
 */
export const sessionRouteHandler = <R extends Route>(
  route: R,
  useCase: UseCase<R, Change>,
  reveal?: (data: unknown) => unknown,
) => apiHandler(route, { ...ports, authenticate }, useCase, reveal);
