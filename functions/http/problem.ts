/** Error types of the API and their statuses (docs/specification.md, Error types). */
export const PROBLEM_STATUS = {
  VALIDATION_ERROR: 400,
  AUTHENTICATION_ERROR: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  SANDBOX_NOT_PROVISIONED: 409,
  LIMIT_EXCEEDED: 409,
  GONE: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  REQUEST_HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ProblemType = keyof typeof PROBLEM_STATUS;

/** What is wrong with a field, for programs. Codes may be added; their meanings do not change. */
export type FieldErrorCode =
  | 'required'
  | 'unknown_field'
  | 'duplicate'
  | 'invalid_type'
  | 'invalid_format'
  | 'invalid_characters'
  | 'not_allowed'
  | 'too_short'
  | 'too_long'
  | 'too_few'
  | 'too_many'
  | 'too_small'
  | 'too_large'
  | 'url_scheme'
  | 'url_credentials'
  | 'url_fragment'
  | 'url_port'
  | 'url_host'
  | 'url_blocked';

/** A fault of a request: the name of a field, parameter or header, and the constraint that it breaks. */
export interface FieldError {
  /** Path in the body, such as `events.0`; `body` for the whole of it. */
  field: string;
  code: FieldErrorCode;
  /** Completes a sentence that begins with the field: `is required`. */
  message: string;
  /** The bound that the value exceeds, with the codes `too_…`. */
  limit?: number;
}

/** An expected error response. It is a value: returned, never thrown. */
export interface Problem {
  kind: 'problem';
  type: ProblemType;
  /** For users: names the field and the constraint, never a secret. */
  message: string;
  headers?: Record<string, string>;
  /** Every fault of an invalid request. */
  details?: readonly FieldError[];
}

export const problem = (type: ProblemType, message: string, headers?: Record<string, string>): Problem => ({
  kind: 'problem',
  type,
  message,
  ...(headers === undefined ? {} : { headers }),
});

/** Faults that a response lists. A body of 256 KiB can have thousands. */
const MAX_DETAILS = 20;

const describeFault = ({ field, message }: FieldError): string =>
  `${field === 'body' ? 'The body' : field} ${message}.`;

/** A request with faults (docs/specification.md, Error envelope): lists all of them, up to 20. */
export function invalid(...faults: readonly FieldError[]): Problem {
  const details = faults.slice(0, MAX_DETAILS);
  const more = faults.length - details.length;
  const sentences = [...details.map(describeFault), ...(more > 0 ? [`There are ${more} more faults.`] : [])];
  return { ...problem('VALIDATION_ERROR', sentences.join(' ')), details };
}

export const isProblem = (value: unknown): value is Problem => Object(value).kind === 'problem';

/** The path, or its slashes, are of no route. */
export const noRoute = (): Problem => problem('NOT_FOUND', 'No such route.');

export const notFound = (what: string): Problem => problem('NOT_FOUND', `No such ${what}.`);

/** A dependency is busy or down; the client may retry after a second. */
export const unavailable = (): Problem =>
  problem('SERVICE_UNAVAILABLE', 'The service is busy. Try again shortly.', { 'Retry-After': '1' });

/**
 * Another worker is processing the same thing: retry later. The message is logged, so it holds identifiers
 * and fixed text only.
 */
export class InProgressError extends Error {
  override name = 'InProgressError';
  /** Seconds until the next try; the queue's visibility timeout when absent. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, againInSeconds?: number) {
    super(message);
    this.retryAfterSeconds = againInSeconds;
  }
}
