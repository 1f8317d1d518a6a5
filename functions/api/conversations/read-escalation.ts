import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { escalationStore } from '../../store/conversations.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const escalations = escalationStore(tables.service);

/** The key contains the organization and the conversation, so one read checks both. */
export const handler = routeHandler(routes.readEscalation, async ({ tenant, params }) => {
  const found = await escalations.find(tenant, params.id, params.escalationLogId);
  return found ? success(found) : notFound('escalation log entry');
});
