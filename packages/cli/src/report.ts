import { explainConnectionFailure } from 'aws-local/connection-failure.ts';
import { LocalRunError } from 'aws-local/errors.ts';
import { type ApiError, ConnectionError, isApiError, TimeoutError } from '../../sdk/src/index.ts';
import { ApiUnreachable } from './api-call.ts';
import { CommandError, EXIT } from './errors.ts';
import { harmless } from './terminal/format.ts';
import type { Paint } from './terminal/paint.ts';

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
  if (error instanceof ConnectionError || error instanceof ApiUnreachable) return EXIT.tryAgain;
  if (!isApiError(error)) return EXIT.failed;
  if (error.status === 401 || error.status === 403) return EXIT.notAuthorized;
  return error.status === 429 || error.status >= 500 ? EXIT.tryAgain : EXIT.failed;
}

/** The error as an object, without a stack. */
export function reportedError(error: unknown): ReportedError {
  if (isApiError(error)) return ofApi(error);
  if (error instanceof ConnectionError) return { type: 'NO_RESPONSE', message: explain(error) };
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

const isExpected = (error: unknown): boolean =>
  error instanceof LocalRunError || error instanceof ConnectionError || isApiError(error);

const ofApi = ({ type, message, status, details, requestId }: ApiError): ReportedError => ({
  type,
  message,
  status,
  ...(details.length > 0 && { details }),
  ...(requestId !== undefined && { requestId }),
});

function explain(error: ConnectionError): string {
  if (error instanceof TimeoutError) return `${error.message} Try again.`;
  const { code, reason, advice } = explainConnectionFailure(error.cause);
  const isStopped = code === 'ECONNREFUSED' && error.message.includes(' localhost');
  return `${error.message.replace(/\.$/, '')}: ${reason}. ${isStopped ? 'Start it with npm start.' : advice}`;
}
