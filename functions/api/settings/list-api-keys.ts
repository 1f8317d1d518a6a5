import { apiKeyStore } from '../../store/api-keys.ts';
import { tables } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import { sessionEndpoint } from '../session-endpoint.ts';
import * as routes from './routes.ts';

const apiKeys = apiKeyStore(tables.service);

export const handler = sessionEndpoint(routes.listApiKeys, (request) =>
  paginated(routes.listApiKeys, request, (page) => apiKeys.list(request.tenant.orgId, page)),
);
