import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { escalations } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readEscalation, async ({ tenant, params }) => {
  const escalation = await escalations.find(tenant, params.id, params.escalationLogId);
  return escalation ? success(escalation) : refusals.notFound('escalation log entry');
});
