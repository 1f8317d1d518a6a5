import { routes } from '../../functions/api/routes.ts';
import { openApiDocument } from './document.ts';
import type { OpenApiDocument } from './openapi.ts';
import { OPERATIONS } from './operations.ts';

/** The document of version 1, as the route table has it now. */
export const currentDocument = (): OpenApiDocument => openApiDocument(routes, OPERATIONS, 'v1');
