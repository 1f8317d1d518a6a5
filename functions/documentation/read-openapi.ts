import { readFileSync } from 'node:fs';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { openApiResource, respondWith } from './resource.ts';

const document = openApiResource(readFileSync(new URL('./openapi.json', import.meta.url), 'utf8'));

/**
 * Serves the OpenAPI document to anybody, pages of other origins included. The bundle has it beside the code.
 */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  respondWith(document, event);
