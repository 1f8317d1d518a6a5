import { sourceStore, toSourceView } from '../../knowledge/sources.ts';
import { listHandler, mapPage } from '../pages.ts';
import { knowledge } from '../stores.ts';
import * as routes from './routes.ts';

const sources = sourceStore(knowledge);

export const handler = listHandler(routes.listSources, async ({ tenant }, page) =>
  mapPage(await sources.list(tenant, page), toSourceView),
);
