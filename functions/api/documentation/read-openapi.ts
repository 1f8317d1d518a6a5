import { readFileSync } from 'node:fs';
import { gatewayHandler } from '../../http/lifecycle.ts';
import { openApiResource, respondWith } from './resource.ts';

const document = openApiResource(readFileSync(new URL('./openapi.json', import.meta.url), 'utf8'));

/** Serves the OpenAPI document from the bundle, also to pages of other origins. */
export const handler = gatewayHandler({ name: 'read-openapi' }, async (event) =>
  respondWith(document, event),
);
