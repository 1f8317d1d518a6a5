import * as z from 'zod/mini';

/** Why an attempt failed, for programs. Codes may be added; their meanings do not change. */
export const AttemptErrorCode = z.enum([
  'http_status',
  'redirect',
  'timeout',
  'connection_refused',
  'connection_closed',
  'dns',
  'tls',
  'address_forbidden',
  'invalid_response',
  'lost',
]);
export type AttemptErrorCode = z.infer<typeof AttemptErrorCode>;

/** Why an attempt failed: in one line for the endpoint's owner, and for programs. */
export interface AttemptError {
  error: string;
  errorCode: AttemptErrorCode;
}

/** The error of a delivery whose last attempt was started and never settled. */
export const LOST_OUTCOME: AttemptError = {
  errorCode: 'lost',
  error: 'the last attempt was started, and its outcome was never recorded',
};

/** Builds the error of an attempt that did not end by its deadline. */
export const timedOutAfter = (timeoutMs: number): AttemptError => ({
  errorCode: 'timeout',
  error: `timed out after ${timeoutMs / 1000} s`,
});
