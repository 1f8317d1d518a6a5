import { readFileSync } from 'node:fs';
import { publicHandler } from './public-handler.ts';
import { openApiResource, respondWith } from './resource.ts';

const document = openApiResource(readFileSync(new URL('./openapi.json', import.meta.url), 'utf8'));

/** Serves the OpenAPI document from the bundle, also to pages of other origins. */
export const handler = publicHandler('read-openapi', (event) => respondWith(document, event));
