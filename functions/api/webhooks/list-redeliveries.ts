import { refusals } from '../../http/problem.ts';
import { toJobView } from '../../redelivery/jobs.ts';
import { listHandler, mapPage } from '../pages.ts';
import { endpoints, jobs } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(routes.listRedeliveries, async ({ tenant, params }, page) => {
  const endpoint = await endpoints.find(tenant.orgId, params.id);
  if (!endpoint) return refusals.notFound('webhook endpoint');
  return mapPage(await jobs.list(tenant, params.id, page), toJobView);
});
