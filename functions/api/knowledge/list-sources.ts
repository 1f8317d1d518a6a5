import { toSourceView } from '../../knowledge/sources.ts';
import { paginate } from '../pages.ts';
import { routeHandler } from '../route-handler.ts';
import * as routes from './routes.ts';
import { sources } from './sources.ts';

export const handler = routeHandler(routes.listSources, (request) =>
  paginate(routes.listSources, request, async (page) => {
    const { items, ...rest } = await sources.list(request.tenant, page);
    return { ...rest, items: items.map(toSourceView) };
  }),
);
