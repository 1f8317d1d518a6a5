import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { escalationStore } from '../../store/conversations.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const escalations = escalationStore(tables.service);

/**
 * An entry is found under its organization and conversation alone, so that one read answers for all three.
 */
export const handler = routeHandler(routes.readEscalation, async ({ tenant, params }) => {
  const found = await escalations.find(tenant, params.id, params.escalationLogId);
  return found ? success(found) : notFound('entry of the escalation log');
});
