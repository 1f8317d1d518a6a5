import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { endRequest, observed, requestPorts } from '../../http/lifecycle.ts';
import type { Problem } from '../../http/problem.ts';
import { problemResult } from '../../http/reply.ts';
import { getRequestId } from '../../http/request.ts';

/** Creates the handler of a function that serves everybody, without authentication. */
export function publicHandler(
  name: string,
  serve: (event: APIGatewayProxyEvent) => APIGatewayProxyResult | Problem,
) {
  const end = async (event: APIGatewayProxyEvent, reply: APIGatewayProxyResult | Problem) => {
    const result = 'kind' in reply ? problemResult(reply, getRequestId(event), {}) : reply;
    endRequest(requestPorts, result);
    return result;
  };
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context>()
    .use(observed(requestPorts, { name }, end))
    .handler(async (event: APIGatewayProxyEvent) => end(event, serve(event)));
}
