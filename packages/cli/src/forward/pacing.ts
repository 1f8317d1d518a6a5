/** The API's rate limit, which the user's own calls share. */
export interface Budget {
  /** `r` of `RateLimit`. */
  remaining: number;
  /** `t` of `RateLimit`: seconds until the full quota is available. */
  resetSeconds: number;
  /** `q` and `w` of `RateLimit-Policy`: requests per seconds. */
  policy: { quota: number; windowSeconds: number } | undefined;
}

/** When the next request may be sent; times in milliseconds of one clock. */
export interface Pace {
  /** Theoretical arrival time of the generic cell rate algorithm. */
  paidUntil: number;
  spacingMs: number;
  notBefore: number;
}

export const UNPACED: Pace = { paidUntil: 0, spacingMs: 0, notBefore: 0 };

/** Of the rate limit; the rest is for the user. */
const SHARE = 0.5;
/** Requests in a burst: a first poll, or one of several pages. */
const BURST = 4;

const FIRST_BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 30_000;
const STANDARD_RETRY_AFTER_SECONDS = 5;

/** Reads the fields of draft-ietf-httpapi-ratelimit-headers; undefined when absent. */
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
 * Spreads half of the quota over its window; if less is left, half of that over the rest of the window.
 * @param sentAt when the request with this response was sent
 */
export function paceAfter(pace: Pace, budget: Budget | undefined, sentAt: number): Pace {
  if (budget === undefined) return pace;
  const { remaining, resetSeconds, policy } = budget;
  const scarce = (resetSeconds * 1000) / Math.max(1, remaining * SHARE);
  const standard = policy && (policy.windowSeconds * 1000) / (policy.quota * SHARE);
  // As many as an even use leaves: an early request would be slowed down for nothing.
  const isScarce = standard === undefined || remaining === 0 || scarce > standard / SHARE;
  const spacingMs = standard ?? scarce;
  return {
    spacingMs,
    paidUntil: Math.max(pace.paidUntil, sentAt) + spacingMs,
    notBefore: isScarce ? sentAt + (remaining === 0 ? resetSeconds * 1000 : scarce) : sentAt,
  };
}

/** Milliseconds until the next request may be sent. */
export function waitMs({ paidUntil, spacingMs, notBefore }: Pace, now: number): number {
  return Math.max(0, paidUntil - (BURST - 1) * spacingMs - now, notBefore - now);
}

/** Milliseconds before a retry: doubling, with jitter, so that clients do not return at once. */
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
  const match = new RegExp(`;\\s*${name}=(\\d+)`).exec(field ?? '')?.[1];
  return match === undefined ? undefined : Number(match);
}
