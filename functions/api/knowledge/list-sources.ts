import { toSourceView } from '../../knowledge/sources.ts';
import { listHandler, mapPage } from '../pages.ts';
import { sources } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(routes.listSources, async ({ tenant }, page) =>
  mapPage(await sources.list(tenant, page), toSourceView),
);
