import { notFound } from '../../domain/problem.ts';
import { toJobView } from '../../domain/redelivery-job.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { redeliveryJobs } from '../../store/redelivery-jobs.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);
const jobs = redeliveryJobs(tables.service);

export const handler = routeHandler(routes.listRedeliveries, (request) =>
  paginate(routes.listRedeliveries, request, async (page) => {
    const { tenant, params } = request;
    const found = await endpoints.find(tenant.orgId, params.id);
    if (!found) return notFound('webhook endpoint');
    const { items, ...rest } = await jobs.list(tenant, params.id, page);
    return { ...rest, items: items.map(toJobView) };
  }),
);
