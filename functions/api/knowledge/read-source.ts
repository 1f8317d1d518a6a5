import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { sourceStore, toSourceView } from '../../knowledge/sources.ts';
import { routeHandler } from '../route-handler.ts';
import { knowledge } from '../stores.ts';
import * as routes from './routes.ts';

const sources = sourceStore(knowledge);

export const handler = routeHandler(routes.readSource, async ({ tenant, params }) => {
  const source = await sources.find(tenant, params.id);
  return source ? success(toSourceView(source)) : refusals.notFound('content source');
});
