import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { notFound } from '../domain/problem.ts';
import { requestIdOf } from '../platform/pipeline/request.ts';
import { problemResult } from '../platform/reply.ts';
import { answerWith, filesOf, PAGE } from './resource.ts';

const files = filesOf(new URL('./page/', import.meta.url));

/** Serves the reference page and its files, which the bundle has beside the code. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  const found = files.get(event.pathParameters?.file ?? PAGE);
  return found ? answerWith(found(), event) : problemResult(notFound('page'), requestIdOf(event), {});
};
