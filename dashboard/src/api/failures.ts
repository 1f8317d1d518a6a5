/** An error response (docs/specification.md, Error envelope), or no response. */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  /** 0 without a response. */
  readonly status: number;
  /** `error.type`; `NETWORK` without a response. */
  readonly type: string;
  /** For support. */
  readonly requestId: string | undefined;
  /** Seconds until a retry. */
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    facts: { status: number; type: string; requestId?: string | undefined; retryAfter?: number | undefined },
  ) {
    super(message);
    this.status = facts.status;
    this.type = facts.type;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
  }
}

/** Whether a retry may help: no response, rate limited, or a dependency down. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 500);

/** Whether the resource does not exist. */
export const isGone = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

/** Whether the request may have taken effect: the response was lost, or the outcome is unknown. */
export const mayHaveHappened = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 0 || error.status >= 500);

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Pause before a retry: as the response says, else longer each time.
 * @param failures retries before
 * @returns milliseconds
 */
export const pauseAfter = (failures: number, error: unknown): number =>
  error instanceof ApiFailure && error.retryAfter !== undefined
    ? error.retryAfter * 1000
    : Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);

/**
 * Parses an error response.
 * @param body parsed JSON of any shape: a proxy may have answered
 */
export function failureOf(response: Response, body: unknown): ApiFailure {
  const { type, message, requestId } = envelopeOf(body);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiFailure(message ?? `${response.status} ${response.statusText}`.trim(), {
    status: response.status,
    type: type ?? 'UNKNOWN',
    requestId: requestId ?? response.headers.get('request-id') ?? undefined,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  });
}

function envelopeOf(body: unknown): { type?: string; message?: string; requestId?: string } {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {};
  const { error } = body;
  if (typeof error !== 'object' || error === null) return {};
  const texts = Object.entries(error).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

export const unreachable = (cause: unknown): ApiFailure =>
  Object.assign(new ApiFailure('', { status: 0, type: 'NETWORK' }), { cause });
