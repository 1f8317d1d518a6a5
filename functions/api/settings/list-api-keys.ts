import { apiKeyStore, keyUseStore } from '../../tenancy/api-keys.ts';
import { paginate } from '../pages.ts';
import { tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import * as routes from './routes.ts';

const apiKeys = apiKeyStore(tables.service);
const uses = keyUseStore(tables.rates);

export const handler = sessionRouteHandler(routes.listApiKeys, (request) =>
  paginate(routes.listApiKeys, request, async (page) => {
    const { orgId } = request.tenant;
    const { items, ...rest } = await apiKeys.list(orgId, page);
    const lastUses = await uses.read(
      orgId,
      items.map(({ id }) => id),
    );
    return { ...rest, items: items.map((key) => ({ ...key, lastUsedAt: lastUses.get(key.id) })) };
  }),
);
