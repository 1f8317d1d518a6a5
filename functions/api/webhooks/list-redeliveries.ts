import { refusals } from '../../http/problem.ts';
import { redeliveryJobs, toJobView } from '../../redelivery/jobs.ts';
import { listHandler, mapPage } from '../pages.ts';
import { tables } from '../route-handler.ts';
import { endpoints } from '../stores.ts';
import * as routes from './routes.ts';

const jobs = redeliveryJobs(tables.service);

export const handler = listHandler(routes.listRedeliveries, async ({ tenant, params }, page) => {
  const endpoint = await endpoints.find(tenant.orgId, params.id);
  if (!endpoint) return refusals.notFound('webhook endpoint');
  return mapPage(await jobs.list(tenant, params.id, page), toJobView);
});
