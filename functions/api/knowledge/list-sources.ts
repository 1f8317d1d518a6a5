import { shownSource } from '../../domain/source.ts';
import { endpoint } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import * as routes from './routes.ts';
import { sources } from './sources.ts';

export const handler = endpoint(routes.listSources, (request) =>
  paginated(routes.listSources, request, async (page) => {
    const { items, ...rest } = await sources.list(request.tenant, page);
    return { ...rest, items: items.map(shownSource) };
  }),
);
