import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { notFound } from '../domain/problem.ts';
import { getRequestId } from '../platform/pipeline/request.ts';
import { problemResult } from '../platform/reply.ts';
import { loadFiles, PAGE, respondWith } from './resource.ts';

const files = loadFiles(new URL('./page/', import.meta.url));

/** Serves the API reference page and its files from the bundle. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  const found = files.get(event.pathParameters?.file ?? PAGE);
  return found ? respondWith(found(), event) : problemResult(notFound('page'), getRequestId(event), {});
};
