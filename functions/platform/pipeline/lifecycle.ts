import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type Problem, problem, unavailable } from '../../domain/problem.ts';
import type { Logging } from '../logger.ts';
import { requestIdOf, traceOf } from './request.ts';

/** What every function behind a route needs, whoever its callers are. */
export interface RequestPorts {
  logger: Logging;
  /** Counts a request that failed unexpectedly. */
  onFailure(): void;
  /** Writes the metrics of the request, which ends. */
  publishMetrics(): void;
  now: () => Date;
}

/** Gives the log lines of an invocation what identifies its request. */
export function beginRequest(
  { logger }: Pick<RequestPorts, 'logger'>,
  { name }: { name: string },
  event: APIGatewayProxyEvent,
  context: Context,
): void {
  logger.begin(context);
  logger.add({ requestId: requestIdOf(event), route: name, traceId: traceOf(event) });
}

/**
 * Logs and counts an unexpected error.
 * @returns 503 when a retry may succeed, else 500; neither has details
 */
export function failureReply(
  { logger: { log }, onFailure }: Pick<RequestPorts, 'logger' | 'onFailure'>,
  error: unknown,
): Problem {
  const transient = isTransient(error);
  log(transient ? 'DEPENDENCY_UNAVAILABLE' : 'REQUEST_FAILED', { error });
  onFailure();
  return transient ? unavailable() : problem('INTERNAL_ERROR', 'Something went wrong on our side.');
}

/** Called before the function returns: Lambda freezes an instance that has answered. */
export function endRequest(
  { logger, publishMetrics }: Pick<RequestPorts, 'logger' | 'publishMetrics'>,
  { statusCode }: Pick<APIGatewayProxyResult, 'statusCode'>,
): void {
  logger.log('REQUEST_ANSWERED', { status: statusCode });
  publishMetrics();
}

/** Names of errors, of the SDK and of this service, after which the same call may succeed. */
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

/** Whether a dependency throttled or was down, so that a retry may succeed: 503 instead of 500. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The gate closes on an error; its cause decides.
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
