import type { ConversationId, OrgId } from './ids.ts';
import type { Environment, Tier } from './tenant.ts';

/** Tokens a minute for each tier. A request costs one, unless it consumes more than `UNITS_PER_TOKEN`. */
export type RateLimits = Readonly<Record<Tier, number>>;

/** The specification's numbers (decisions.md, Rate limits). */
export const DEFAULT_RATE_LIMITS: RateLimits = { sandbox: 60, standard: 600, scale: 6000 };

/**
 * Requests a minute of all visitors of one conversation: one that looks every other second, in two windows.
 */
export const VISITOR_LIMIT = 60;

/** What requests to DynamoDB consumed, in capacity units. */
export interface Capacity {
  reads: number;
  writes: number;
}

/** Read units that one token pays for. A page of 100 deliveries consumes about 30, a message about 45. */
const UNITS_PER_TOKEN = 100;

/** What a write unit costs in read units (Amazon DynamoDB pricing, on-demand capacity). */
const READS_PER_WRITE = 5;

/** The tokens that a request costs for what it consumed. */
export const computeTokens = ({ reads, writes }: Capacity): number =>
  Math.max(1, Math.ceil((reads + READS_PER_WRITE * writes) / UNITS_PER_TOKEN));

/**
 * The tokens that a window has to take over from the one before: what that used beyond its limit, at most a
 * whole window.
 */
export const computeDebt = (used: number, limit: number): number =>
  Math.min(Math.max(0, used - limit), limit);

/** Whose budget it is: an organization's, by its tier, or that of a conversation's visitors. */
export type Budget = Tier | 'visitor';

/** A budget as header fields name it; `visitors` is that of all visitors of an organization together. */
export type BudgetName = Budget | 'visitors';

/**
 * What is counted together. The dashboard has a budget of its own: an admin must be able to revoke a key that
 * uses up the organization's. So has each conversation's visitor, who is anybody, and must not use up the
 * organization's either. All visitors of an organization share one more budget, because its conversations can
 * be any number.
 */
export interface RateBucket {
  orgId: OrgId;
  kind: Environment | 'dashboard' | `visitor/${ConversationId}` | 'visitors';
}

export const WINDOW_SECONDS = 60;

/** The window that a moment is in; windows follow one another without gaps, the same on every machine. */
export interface RateWindow {
  /** Seconds since the epoch. */
  start: number;
  /** Whole seconds until the next window, at least 1. */
  resetSeconds: number;
}

export function getRateWindow(now: Date): RateWindow {
  const seconds = now.getTime() / 1000;
  const start = Math.floor(seconds / WINDOW_SECONDS) * WINDOW_SECONDS;
  return { start, resetSeconds: Math.max(1, Math.ceil(start + WINDOW_SECONDS - seconds)) };
}

/** What is left of a budget after a request. */
export interface Quota {
  tier: BudgetName;
  /** Tokens in a window. */
  limit: number;
  /** Never negative: a window in debt has nothing left. */
  remaining: number;
  resetSeconds: number;
  allowed: boolean;
}

/**
 * The header fields of draft-ietf-httpapi-ratelimit-headers: `q` quota, `w` window, `r` remaining, `t`
 * seconds to its reset.
 */
export function buildQuotaHeaders({
  tier,
  limit,
  remaining,
  resetSeconds,
  allowed,
}: Quota): Record<string, string> {
  return {
    'RateLimit-Policy': `"${tier}";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"${tier}";r=${remaining};t=${resetSeconds}`,
    ...(allowed ? {} : { 'Retry-After': String(resetSeconds) }),
  };
}
