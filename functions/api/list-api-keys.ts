import { apiKeyStore } from '../store/api-keys.ts';
import { paginated, tables } from './endpoint.ts';
import { routes } from './routes.ts';
import { sessionEndpoint } from './session-endpoint.ts';

const apiKeys = apiKeyStore(tables.service);

export const handler = sessionEndpoint(routes.listApiKeys, (request) =>
  paginated(routes.listApiKeys, request, (page) => apiKeys.list(request.tenant.orgId, page)),
);
