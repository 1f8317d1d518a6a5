import { refusals } from '../../http/problem.ts';
import { auditLogReader, toAuditView } from '../../tenancy/audit.ts';
import { LIVE_GENERATION } from '../../tenancy/tenant.ts';
import { mapPage, paginate } from '../pages.ts';
import { tables } from '../route-handler.ts';
import * as routes from './routes.ts';
import { findSandbox, sessionRouteHandler } from './session.ts';

const read = auditLogReader(tables.service);

export const handler = sessionRouteHandler(routes.listAuditLog, async (request) => {
  const { query, now } = request;
  const { action: actions, actorType: actorTypes, actorId, from, to } = query;
  const sandbox = query.environment === 'sandbox' ? await findSandbox(request.tenant.orgId) : undefined;
  if (query.environment === 'sandbox' && sandbox === undefined) return refusals.noSandbox;
  // The log has no generations, so a reset does not end its cursors.
  const tenant = sandbox ? { orgId: sandbox.sandbox.id, generation: LIVE_GENERATION } : request.tenant;
  return paginate(
    routes.listAuditLog,
    { ...request, tenant },
    async (page) =>
      mapPage(await read(tenant.orgId, page, { actions, actorTypes, actorId, from, to }, now), toAuditView),
    [JSON.stringify([actions, actorTypes, actorId, from?.getTime(), to?.getTime()])],
  );
});
