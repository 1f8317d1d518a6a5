import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { parseTraceId } from '../aws/ids.ts';
import { logger as functionLogger, type Logging } from '../aws/logger.ts';
import { count, FAILED_INVOCATIONS, publishMetrics } from '../aws/metrics.ts';
import { refusals } from './problem.ts';
import { type Reply, toResult } from './reply.ts';
import { buildDeprecationHeaders, type Route } from './route.ts';

/** Headers of the response, also of one to an error. */
export type Headers = Record<string, string>;

/**
 * Creates the handler of a function behind the gateway. Its log lines have the request's ids, and unexpected
 * errors become a 500 or 503 without internals. Logs and metrics end with the handler, because Lambda freezes
 * an instance after its response.
 * @param answer may add headers to the response
 */
export function gatewayHandler(
  { name, deprecation, visitor }: { name: string } & Pick<Partial<Route>, 'deprecation' | 'visitor'>,
  answer: (event: APIGatewayProxyEvent, headers: Headers) => Promise<Reply | APIGatewayProxyResult>,
  logger: Logging = functionLogger,
) {
  /** @returns 503 when a retry may succeed, else 500; neither has details */
  function handleError(error: unknown): Reply {
    const transient = isTransient(error);
    logger.log(transient ? 'DEPENDENCY_UNAVAILABLE' : 'REQUEST_FAILED', { error });
    count(FAILED_INVOCATIONS);
    return transient ? refusals.busy : refusals.failed;
  }

  return middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context>()
    .use({
      before: ({ event, context }) => {
        logger.begin(context);
        logger.add({ requestId: getRequestId(event), route: name, traceId: getTraceId(event) });
      },
      after: ({ response }) => {
        logger.log('REQUEST_ANSWERED', { status: response?.statusCode ?? 0 });
        publishMetrics();
      },
    })
    .handler(async (event: APIGatewayProxyEvent) => {
      const headers = { ...buildDeprecationHeaders(deprecation), ...(visitor && CROSS_ORIGIN_HEADERS) };
      // API Gateway passes on slashes around a resource's path, which name no route.
      const reply = /\/(?:\/|$)/.test(event.path)
        ? refusals.noRoute
        : await answer(event, headers).catch(handleError);
      return 'statusCode' in reply ? reply : toResult(reply, getRequestId(event), headers);
    });
}

/**
 * CORS headers for pages of any site (Fetch standard, CORS protocol). Visitors call from customers' pages
 * with a token in a header, which browsers do not send by themselves.
 */
const CROSS_ORIGIN_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Idempotency-Replayed, RateLimit, RateLimit-Policy, Request-Id, Retry-After',
};

/** Id of the request in gateway, access log, functions and response. Clients cannot choose it. */
export const getRequestId = (event: APIGatewayProxyEvent): string =>
  event.requestContext.extendedRequestId ?? event.requestContext.requestId;

export const getTraceId = (event: APIGatewayProxyEvent): string =>
  parseTraceId(header(event, 'x-amzn-trace-id'), getRequestId(event));

/** Header names are case-insensitive (RFC 9110, 5.1), and the gateway passes them on as sent. */
export function header(event: APIGatewayProxyEvent, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

/** Names of errors after which the same call may succeed. */
const TRANSIENT = new Set([
  'Contended',
  'InternalServerError',
  'InternalServiceError',
  'IssuerUnavailable',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'ServiceUnavailable',
  'ThrottlingException',
  'TimeoutError',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

const TRANSIENT_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN']);

/** Whether a retry may succeed: 503 instead of 500. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The cause of a closed gate decides.
  if (error.name === 'GateClosed') return isTransient(error.cause);
  const { code, $retryable, $metadata } = error as Error & {
    code?: unknown;
    $retryable?: object;
    $metadata?: { httpStatusCode?: number };
  };
  return (
    TRANSIENT.has(error.name) ||
    TRANSIENT_CODES.has(String(code)) ||
    $retryable !== undefined ||
    ($metadata?.httpStatusCode ?? 0) >= 500
  );
}

const READS = /^(Query|Scan|Get|BatchGet|TransactGet)/;

const toFields = (value: unknown): Readonly<Record<string, unknown>> => Object(value);

/**
 * Requests and sums the consumed capacity of each command. An instance serves one request at a time, so the
 * sum is that request's. A refused write is not reported but consumes units: it counts as one, a cancelled
 * transaction as two per item (Developer Guide, Condition expressions, Transactions).
 */
export function meterCapacity(client: Pick<DynamoDBClient, 'middlewareStack'>) {
  let sum = { reads: 0, writes: 0 };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        try {
          const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
          sum[READS.test(commandName) ? 'reads' : 'writes'] += countUnits(result.output);
          return result;
        } catch (error) {
          sum.writes += countRefusedUnits(error, args.input);
          throw error;
        }
      },
    { step: 'initialize', name: 'meterCapacity' },
  );
  return {
    begin() {
      sum = { reads: 0, writes: 0 };
    },
    consumed: () => ({ ...sum }),
  };
}

const countUnits = (output: unknown): number =>
  [toFields(output).ConsumedCapacity]
    .flat()
    .reduce<number>((units, each) => units + Number(toFields(each).CapacityUnits ?? 0), 0);

function countRefusedUnits(error: unknown, input: object): number {
  const { name } = toFields(error);
  if (name === 'ConditionalCheckFailedException') return 1;
  const { TransactItems } = toFields(input);
  return name === 'TransactionCanceledException' && Array.isArray(TransactItems)
    ? 2 * TransactItems.length
    : 0;
}
