import { keyUseStore } from '../../tenancy/api-keys.ts';
import { mapPage, paginate } from '../pages.ts';
import { tables } from '../route-handler.ts';
import { apiKeys } from '../stores.ts';
import * as routes from './routes.ts';
import { sessionRouteHandler } from './session.ts';

const uses = keyUseStore(tables.rates);

export const handler = sessionRouteHandler(routes.listApiKeys, (request) =>
  paginate(routes.listApiKeys, request, async (page) => {
    const { orgId } = request.tenant;
    const listed = await apiKeys.list(orgId, page);
    const ids = listed.items.map(({ id }) => id);
    const lastUses = await uses.read(orgId, ids);
    return mapPage(listed, (key) => ({ ...key, lastUsedAt: lastUses.get(key.id) }));
  }),
);
