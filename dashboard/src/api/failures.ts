interface FieldFault {
  /** Path in the body, with dots. */
  field: string;
  code: string;
  /** In English; it completes a sentence that begins with the field. */
  message: string;
  /** The bound that the value exceeds, of some codes. */
  limit?: number;
}

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
  /** Of a request with invalid fields: each of them. */
  readonly details: readonly FieldFault[];

  constructor(
    message: string,
    facts: {
      status: number;
      type: string;
      requestId?: string | undefined;
      retryAfter?: number | undefined;
      details?: readonly FieldFault[];
    },
  ) {
    super(message);
    this.status = facts.status;
    this.type = facts.type;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.details = facts.details ?? [];
  }
}

/** Whether a retry may help: no response, rate limited, or a dependency down. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 500);

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
  const envelope = envelopeOf(body);
  const [type, message, requestId] = ['type', 'message', 'requestId'].map((name) => textOf(envelope[name]));
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiFailure(message ?? `${response.status} ${response.statusText}`.trim(), {
    status: response.status,
    type: type ?? 'UNKNOWN',
    requestId: requestId ?? response.headers.get('request-id') ?? undefined,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
    details: faultsIn(envelope.details),
  });
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const envelopeOf = (body: unknown): Record<string, unknown> => recordOf(recordOf(body).error);

const faultsIn = (details: unknown): FieldFault[] =>
  (Array.isArray(details) ? details : []).flatMap((detail: unknown) => {
    const { field, code, message, limit } = recordOf(detail);
    if (typeof field !== 'string' || typeof code !== 'string' || typeof message !== 'string') return [];
    return [{ field, code, message, ...(typeof limit === 'number' && { limit }) }];
  });

export const unreachable = (cause: unknown): ApiFailure =>
  Object.assign(new ApiFailure('', { status: 0, type: 'NETWORK' }), { cause });

/** The field of a form that a fault belongs to: `events.0` belongs to `events`. */
const fieldOf = ({ field }: FieldFault, fields: readonly string[]): string | undefined =>
  fields.find((name) => field === name || field.startsWith(`${name}.`));

/**
 * Distributes the faults of a refused request among the fields of a form.
 * @param fields names of the form's fields
 * @param textOf says a fault in the page's language
 * @returns the first fault of each field, and whether all faults have a field
 */
export function faultsByField(
  error: unknown,
  fields: readonly string[],
  textOf: (fault: FieldFault) => string,
): { problems: Record<string, string>; isWhole: boolean } {
  const details = error instanceof ApiFailure ? error.details : [];
  const problems: Record<string, string> = {};
  for (const fault of details) {
    const field = fieldOf(fault, fields);
    if (field !== undefined) problems[field] ??= textOf(fault);
  }
  const isWhole = details.length > 0 && details.every((fault) => fieldOf(fault, fields) !== undefined);
  return { problems, isWhole };
}
