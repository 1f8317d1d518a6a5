import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { expect } from 'vitest';
import * as z from 'zod/mini';
import { EndpointId, newId } from '../../../functions/aws/ids.ts';
import { apiHandler, type UseCase } from '../../../functions/http/api.ts';
import type { Route } from '../../../functions/http/route.ts';
import { NOW } from '../../builders.ts';
import { aThing, type InMemory, inMemory } from './in-memory.ts';

const text = z.string().check(z.minLength(2), z.maxLength(20));

/** A route with every option that a route can have. */
export const thingRoute = {
  name: 'create-thing',
  method: 'POST',
  path: '/v1/things/{id}',
  scope: 'write:webhooks',
  idempotency: 'required',
  refusals: ['CONFLICT', 'LIMIT_EXCEEDED'],
  audit: 'none',
  params: z.object({ id: EndpointId }),
  query: z.object({ view: z.optional(z.enum(['short', 'long'])) }),
  body: z.strictObject({
    name: text,
    rest: z.optional(z.string()),
    size: z.optional(z.int().check(z.minimum(0), z.maximum(100))),
    tags: z.optional(z.array(text).check(z.minLength(1), z.maxLength(2))),
  }),
  success: { status: 201, data: z.object({ name: z.string() }) },
} as const satisfies Route;

export type ThingUseCase = UseCase<typeof thingRoute>;

/** Removes the headers that a test leaves out. */
const present = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** A request to {@link thingRoute} as the gateway passes it on, valid unless changed. */
export function aRequest(
  service: InMemory,
  {
    headers = {},
    ...changes
  }: Omit<Partial<APIGatewayProxyEvent>, 'headers'> & { headers?: Record<string, string | undefined> } = {},
): APIGatewayProxyEvent {
  return {
    httpMethod: 'POST',
    path: '/api/v1/things/1',
    resource: '/v1/things/{id}',
    headers: present({
      Authorization: `Bearer ${service.secret}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
      ...headers,
    }),
    multiValueHeaders: {},
    pathParameters: { id: newId('whk', NOW) },
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    stageVariables: null,
    body: JSON.stringify({ name: 'a thing' }),
    isBase64Encoded: false,
    requestContext: {
      ...({} as APIGatewayProxyEvent['requestContext']),
      requestId: 'chosen-by-client',
      extendedRequestId: 'extended-request-id',
    },
    ...changes,
  };
}

const context: Context = {
  callbackWaitsForEmptyEventLoop: false,
  functionName: 'create-thing',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:create-thing',
  memoryLimitInMB: '256',
  awsRequestId: 'invocation-id',
  logGroupName: '/aws/lambda/create-thing',
  logStreamName: 'stream',
  getRemainingTimeInMillis: () => 10_000,
  done: () => undefined,
  fail: () => undefined,
  succeed: () => undefined,
};

/** An answer with its body parsed; undefined when there is none. */
export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: unknown;
  text: string;
}

function answerOf({ statusCode, headers = {}, body }: APIGatewayProxyResult): Answer {
  return {
    status: statusCode,
    headers,
    body: body === '' ? undefined : JSON.parse(body),
    text: body,
  };
}

/** Sends a request through the whole pipeline of a route. */
export async function send<R extends Route>(
  route: R,
  service: InMemory,
  event: APIGatewayProxyEvent,
  useCase: UseCase<R>,
  addSecrets?: (data: unknown) => unknown,
): Promise<Answer> {
  const handler = apiHandler(route, service.ports, useCase, addSecrets);
  return answerOf(await handler(event, context));
}

/** A use case that commits one write, answers with the name that was sent, and counts its runs. */
export function createThing(): ThingUseCase & { runs: () => number } {
  let runs = 0;
  const useCase: ThingUseCase = async ({ body, effect }) => {
    runs += 1;
    return effect({ kind: 'success', data: { name: body.name } }, [aThing(body.name)]);
  };
  return Object.assign(useCase, { runs: () => runs });
}

/** Sends a request to {@link thingRoute}, and also returns how often its use case ran. */
export async function createThingWith(
  change: Parameters<typeof aRequest>[1] = {},
  service: InMemory = inMemory(),
): Promise<Answer & { runs: number }> {
  const useCase = createThing();
  const answer = await send(thingRoute, service, aRequest(service, change), useCase);
  return { ...answer, runs: useCase.runs() };
}

/** The error envelope of an answer with this type. */
export const envelope = (type: string, message: unknown = expect.any(String)) => ({
  error: {
    type,
    message,
    requestId: 'extended-request-id',
    ...(type === 'VALIDATION_ERROR' ? { details: expect.any(Array) } : {}),
  },
});
