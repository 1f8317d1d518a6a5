import { routes } from '../../functions/api/routes.ts';
import { openApiDocument } from './document.ts';
import type { OpenApiDocument } from './openapi.ts';
import { OPERATIONS } from './operations.ts';

/** The public document of version 1, as the route table has it now. */
export const currentDocument = (): OpenApiDocument => openApiDocument(routes, OPERATIONS, 'v1');

/** The document of the operations that only the dashboard calls. The service does not publish it. */
export const dashboardDocument = (): OpenApiDocument => openApiDocument(routes, OPERATIONS, 'settings');
