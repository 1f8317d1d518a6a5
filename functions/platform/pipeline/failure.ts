/** Names of errors, the SDK's and ours, that mean: the same call may succeed in a moment. */
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
  // The gate is closed because of something else.
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
