import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type Logging, logger } from '../aws/logger.ts';
import { count, FAILED_INVOCATIONS, publishMetrics } from '../aws/metrics.ts';
import { noRoute, type Problem, problem, unavailable } from './problem.ts';
import type { Capacity } from './rate-limit.ts';
import { getRequestId, getTraceId } from './request.ts';

/** Ports of every route's function. */
export interface RequestPorts {
  logger: Logging;
  /** Counts a request that failed unexpectedly. */
  onFailure(): void;
  publishMetrics(): void;
  now: () => Date;
}

/** Ports of the functions as they are deployed. */
export const requestPorts: RequestPorts = {
  logger,
  onFailure: () => count(FAILED_INVOCATIONS),
  publishMetrics,
  now: () => new Date(),
};

/** A path with an empty part: API Gateway passes on slashes around a resource's path, which name no route. */
const HAS_EMPTY_PART = /\/(?:\/|$)/;

/**
 * First middleware of every function behind the gateway: adds the request's ids to the log lines, and answers
 * a path with surplus slashes, and errors.
 * @param name of the function's route, for logs
 * @param answer builds the result of a problem, and ends the request
 */
export const observed = <E extends APIGatewayProxyEvent>(
  ports: RequestPorts,
  { name }: { name: string },
  answer: (event: E, reply: Problem) => Promise<APIGatewayProxyResult>,
): MiddlewareObj<E, APIGatewayProxyResult, Error, Context> => ({
  before: ({ event, context }) => {
    ports.logger.begin(context);
    ports.logger.add({ requestId: getRequestId(event), route: name, traceId: getTraceId(event) });
    if (HAS_EMPTY_PART.test(event.path)) return answer(event, noRoute());
  },
  onError: ({ event, error }) => answer(event, failureReply(ports, error)),
});

/**
 * Logs and counts an unexpected error.
 * @returns 503 when a retry may succeed, else 500; neither has details
 */
function failureReply(
  { logger: { log }, onFailure }: Pick<RequestPorts, 'logger' | 'onFailure'>,
  error: unknown,
): Problem {
  const transient = isTransient(error);
  log(transient ? 'DEPENDENCY_UNAVAILABLE' : 'REQUEST_FAILED', { error });
  onFailure();
  return transient
    ? unavailable()
    : problem(
        'INTERNAL_ERROR',
        'An internal error occurred. Retry later, and include the requestId when you report it.',
      );
}

/** Called before the function returns: Lambda freezes an instance after its response. */
export function endRequest(
  { logger, publishMetrics }: Pick<RequestPorts, 'logger' | 'publishMetrics'>,
  { statusCode }: Pick<APIGatewayProxyResult, 'statusCode'>,
): void {
  logger.log('REQUEST_ANSWERED', { status: statusCode });
  publishMetrics();
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

type Fields = Readonly<Record<string, unknown>>;
const toFields = (value: unknown): Fields => Object(value);

/** The part of a document client that adds a middleware. */
interface Client {
  middlewareStack: {
    add(
      step: <A extends { input: object }, O extends { output: unknown }>(
        next: (args: A) => Promise<O>,
        context: { commandName?: string },
      ) => (args: A) => Promise<O>,
      options: { step: 'initialize'; name: string },
    ): void;
  };
}

/** Sums the consumed capacity of a client's commands. */
export interface CapacityMeter {
  begin(): void;
  consumed(): Capacity;
}

/**
 * Requests and sums the consumed capacity of each command. An instance serves one request at a time, so the
 * sum is that request's. A refused write is not reported but consumes units: it counts as one, a cancelled
 * transaction as two per item (Developer Guide, Condition expressions, Transactions).
 */
export function meterCapacity(client: Client): CapacityMeter {
  let sum: Capacity = { reads: 0, writes: 0 };
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
