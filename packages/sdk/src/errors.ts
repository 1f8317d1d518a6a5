import type { components } from './schema.gen.ts';

/** Error types of the API. Types may be added, so other strings are possible. */
export type ErrorType = components['schemas']['ApiError']['type'];
/** A fault of a request: the field, parameter or header, and the constraint that it breaks. */
export type ErrorDetail = components['schemas']['ErrorDetail'];

/** What is known of a response with an error. */
export interface ApiErrorFields {
  status: number;
  type: ErrorType;
  message: string;
  requestId: string | undefined;
  details: readonly ErrorDetail[];
  retryAfterSeconds: number | undefined;
}

/** Base of the errors of calls. */
export class ServiceError extends Error {}

/** The API refused a request, or could not process it. Tell errors apart by `type`. */
export class ApiError extends ServiceError {
  override name = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  readonly type: ErrorType;
  /** Identifies the request to support. */
  readonly requestId: string | undefined;
  /** Every fault of an invalid request; empty for other errors. */
  readonly details: readonly ErrorDetail[];
  /** How long the service asks to wait. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, type, message, requestId, details, retryAfterSeconds }: ApiErrorFields) {
    super(message);
    this.status = status;
    this.type = type;
    this.requestId = requestId;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * A response that is not as documented, for example a redirect or the page of a proxy. A request that writes
 * may have taken effect.
 */
export class ResponseError extends ServiceError {
  override name = 'ResponseError';
  /** HTTP status. */
  readonly status: number;
  readonly requestId: string | undefined;

  constructor(message: string, { status, requestId }: { status: number; requestId?: string | undefined }) {
    super(message);
    this.status = status;
    this.requestId = requestId;
  }
}

/** No response arrived: the service cannot be reached, or the connection broke. The cause has more. */
export class ConnectionError extends ServiceError {
  override name = 'ConnectionError';
}

/** No response arrived in time. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError';
}

/**
 * Whether a value is an error of the API, of one type if given.
 * @example if (isApiError(error, 'NOT_FOUND')) return undefined;
 */
export const isApiError = (error: unknown, type?: ErrorType): error is ApiError =>
  error instanceof ApiError && (type === undefined || error.type === type);
