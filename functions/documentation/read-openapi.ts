import { readFileSync } from 'node:fs';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { openApiResource, respondWith } from './resource.ts';

const document = openApiResource(readFileSync(new URL('./openapi.json', import.meta.url), 'utf8'));

/** Serves the OpenAPI document from the bundle, also to pages of other origins. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  respondWith(document, event);
