import { refusals } from '../../http/problem.ts';
import { endpointStore } from '../../receivers/endpoints.ts';
import { toJobView } from '../../redelivery/job.ts';
import { redeliveryJobs } from '../../redelivery/jobs.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);
const jobs = redeliveryJobs(tables.service);

export const handler = routeHandler(routes.listRedeliveries, (request) =>
  paginate(routes.listRedeliveries, request, async (page) => {
    const { tenant, params } = request;
    const found = await endpoints.find(tenant.orgId, params.id);
    if (!found) return refusals.notFound('webhook endpoint');
    const { items, ...rest } = await jobs.list(tenant, params.id, page);
    return { ...rest, items: items.map(toJobView) };
  }),
);
