import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { escalations } from '../stores.ts';
import * as routes from './routes.ts';

/** The key contains the organization and the conversation, so one read checks both. */
export const handler = routeHandler(routes.readEscalation, async ({ tenant, params }) => {
  const escalation = await escalations.find(tenant, params.id, params.escalationLogId);
  return escalation ? success(escalation) : refusals.notFound('escalation log entry');
});
