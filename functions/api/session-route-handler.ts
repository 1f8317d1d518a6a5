import type { Change } from '../aws/transaction.ts';
import { apiHandler } from '../http/api.ts';
import type { UseCase } from '../http/request.ts';
import type { Route } from '../http/route.ts';
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
