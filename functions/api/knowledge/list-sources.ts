import { toSourceView } from '../../knowledge/sources.ts';
import { listHandler, mapPage } from '../pages.ts';
import * as routes from './routes.ts';
import { sources } from './sources.ts';

export const handler = listHandler(routes.listSources, async ({ tenant }, page) =>
  mapPage(await sources.list(tenant, page), toSourceView),
);
