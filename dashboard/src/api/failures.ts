/**
 * What an answer says that is not what was asked for (public-api.md, Error envelope), or that there was none.
 */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  /** 0 when nothing answered. */
  readonly status: number;
  /** `error.type`; `NETWORK` when nothing answered. */
  readonly type: string;
  /** What support finds the request by. */
  readonly requestId: string | undefined;
  /** Seconds after which it may be tried again. */
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

/**
 * Whether asking again may help: nothing answered, too much was asked, or something behind the API was down.
 */
export const mayPass = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 500);

/** Whether what was asked for is not there any more, or never was. */
export const isGone = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

/**
 * Whether it may have taken effect all the same: the answer is what got lost, or the service itself does not
 * know.
 */
export const mayHaveHappened = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 0 || error.status >= 500);

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * How long to wait before asking again: as long as the answer says, else longer each time.
 * @param failures how often it was asked again before
 * @returns milliseconds
 */
export const pauseAfter = (failures: number, error: unknown): number =>
  error instanceof ApiFailure && error.retryAfter !== undefined
    ? error.retryAfter * 1000
    : Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);

/**
 * What an unsuccessful answer says.
 * @param body parsed, whatever it is: a proxy in between may have answered in its own way
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

/** Nothing answered. */
export const unreachable = (cause: unknown): ApiFailure =>
  Object.assign(new ApiFailure('', { status: 0, type: 'NETWORK' }), { cause });
