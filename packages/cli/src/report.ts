import { explainConnectionFailure } from 'terminal/connection-failure.ts';
import { UserError } from 'terminal/errors.ts';
import { harmless } from 'terminal/format.ts';
import type { Paint } from 'terminal/paint.ts';
import {
  ApiError,
  ConnectionError,
  isApiError,
  ResponseError,
  ServiceError,
  TimeoutError,
} from '../../sdk/src/index.ts';
import { ApiUnreachable } from './api-call.ts';
import { CommandError, EXIT } from './errors.ts';

/** An error for a program: the API's own, or one of the command line. */
interface ReportedError {
  type: string;
  message: string;
  status?: number;
  details?: ApiError['details'];
  requestId?: string;
}

/** Exit code for an error (docs/reference/command-line.md). */
export function exitCodeFor(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ApiUnreachable) return EXIT.tryAgain;
  if (isTransient(error)) return EXIT.tryAgain;
  return isApiError(error) && [401, 403].includes(error.status) ? EXIT.notAuthorized : EXIT.failed;
}

/** Whether the same call may succeed later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  ((error instanceof ApiError || error instanceof ResponseError) &&
    (error.status === 429 || error.status >= 500));

/** The error as an object, without a stack. */
export function reportedError(error: unknown): ReportedError {
  if (isApiError(error)) return ofApi(error);
  if (error instanceof ConnectionError) return { type: 'NO_RESPONSE', message: explain(error) };
  if (error instanceof ResponseError) return ofResponse(error);
  return { type: typeOf(error), message: error instanceof Error ? error.message : String(error) };
}

function typeOf(error: unknown): string {
  if (error instanceof ApiUnreachable) return 'NO_RESPONSE';
  return error instanceof CommandError ? error.type : 'FAILED';
}

/** The error for a terminal: type and message, a line for each fault, and the request to name to support. */
export function renderError(error: unknown, paint: Paint): string {
  if (!isExpected(error))
    return harmless(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const { type, message, details = [], requestId } = reportedError(error);
  return [
    isApiError(error) ? `${paint('red', harmless(type))}: ${harmless(message)}` : harmless(message),
    ...details.map(({ field, message: fault }) => `  ${harmless(`${field}: ${fault}`)}`),
    ...(requestId === undefined ? [] : [paint('dim', `  Request-Id ${harmless(requestId)}`)]),
  ].join('\n');
}

const isExpected = (error: unknown): boolean => error instanceof UserError || error instanceof ServiceError;

const ofApi = ({ type, message, status, details, requestId }: ApiError): ReportedError => ({
  type,
  message,
  status,
  ...(details.length > 0 && { details }),
  ...(requestId !== undefined && { requestId }),
});

const ofResponse = ({ message, status, requestId }: ResponseError): ReportedError => ({
  type: 'INVALID_RESPONSE',
  message,
  status,
  ...(requestId !== undefined && { requestId }),
});

function explain(error: ConnectionError): string {
  if (error instanceof TimeoutError) return `${error.message} Try again.`;
  const { reason, advice } = explainConnectionFailure(error.cause);
  return `${error.message.replace(/\.$/, '')}: ${reason}. ${advice}`;
}
