/** What the API says of the budget of requests, which the developer's own calls share. */
export interface Budget {
  /** `r` of `RateLimit`. */
  remaining: number;
  /** `t` of `RateLimit`: seconds until all of it is there again. */
  resetSeconds: number;
  /** `q` and `w` of `RateLimit-Policy`: so many requests in so many seconds. */
  policy: { quota: number; windowSeconds: number } | undefined;
}

/** When the next request may go out; times in milliseconds of one clock. */
export interface Pace {
  /**
   * The requests made so far are paid for by then (the generic cell rate algorithm's theoretical arrival
   * time).
   */
  paidUntil: number;
  spacingMs: number;
  notBefore: number;
}

export const UNPACED: Pace = { paidUntil: 0, spacingMs: 0, notBefore: 0 };

/** Of the budget; the rest is for the developer. */
const SHARE = 0.5;
/** Requests that may go out at once: a first look, or one of several pages. */
const BURST = 4;

const FIRST_BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 30_000;
const STANDARD_RETRY_AFTER_SECONDS = 5;

/** Reads the fields of draft-ietf-httpapi-ratelimit-headers; undefined when an answer has none. */
export function readBudget(headers: Headers): Budget | undefined {
  const limit = headers.get('ratelimit');
  const remaining = parameter(limit, 'r');
  const resetSeconds = parameter(limit, 't');
  if (remaining === undefined || resetSeconds === undefined) return undefined;
  const policy = headers.get('ratelimit-policy');
  const quota = parameter(policy, 'q');
  const windowSeconds = parameter(policy, 'w');
  const isKnown = quota !== undefined && windowSeconds !== undefined && quota > 0;
  return { remaining, resetSeconds, policy: isKnown ? { quota, windowSeconds } : undefined };
}

/**
 * Spreads half of the budget over its window; and when less is left than that, half of what is left over the
 * rest of the window.
 * @param sentAt when the request was sent whose answer reported the budget
 */
export function paceAfter(pace: Pace, budget: Budget | undefined, sentAt: number): Pace {
  if (budget === undefined) return pace;
  const { remaining, resetSeconds, policy } = budget;
  const scarce = (resetSeconds * 1000) / Math.max(1, remaining * SHARE);
  const standard = policy && (policy.windowSeconds * 1000) / (policy.quota * SHARE);
  // As many as are left of an even use: who asks first would be slowed down for nothing.
  const isScarce = standard === undefined || remaining === 0 || scarce > standard / SHARE;
  const spacingMs = standard ?? scarce;
  return {
    spacingMs,
    paidUntil: Math.max(pace.paidUntil, sentAt) + spacingMs,
    notBefore: isScarce ? sentAt + (remaining === 0 ? resetSeconds * 1000 : scarce) : sentAt,
  };
}

/** Milliseconds until the next request may go out. */
export function waitMs({ paidUntil, spacingMs, notBefore }: Pace, now: number): number {
  return Math.max(0, paidUntil - (BURST - 1) * spacingMs - now, notBefore - now);
}

/**
 * How long to wait after an error that may pass: doubling, with jitter, so that many who lost the API do not
 * come back at once.
 */
export function backoffMs(failures: number, random: number): number {
  const longest = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
  return longest * (0.5 + random / 2);
}

/** `Retry-After` in milliseconds; it may be a time (RFC 9110, 10.2.3). */
export function retryAfterMs(headers: Headers, now: Date): number {
  const text = headers.get('retry-after') ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  return 1000 * (Number.isNaN(seconds) ? STANDARD_RETRY_AFTER_SECONDS : Math.max(0, seconds));
}

function parameter(field: string | null, name: string): number | undefined {
  const found = new RegExp(`;\\s*${name}=(\\d+)`).exec(field ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}
