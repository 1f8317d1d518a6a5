import type * as z from 'zod/mini';
import type { ApiEnvironment, VisitorEnvironment } from '../aws/config.ts';
import type { SharedBudget, VisitorBudget } from '../tenancy/keys.ts';
import type { Tier } from '../tenancy/tenant.ts';

/**
 * Tokens per minute by tier. A request costs one token, or more when it consumes more than `UNITS_PER_TOKEN`.
 */
export type RateLimits = Readonly<Record<Tier, number>>;

/** docs/specification.md, Rate limits. */
export const DEFAULT_RATE_LIMITS: RateLimits = { sandbox: 60, standard: 600, scale: 6000 };

/** Requests per minute of all visitors of one conversation. Two windows polled every other second read 60. */
export const VISITOR_LIMITS: Readonly<Record<VisitorBudget, number>> = { visitor: 60, 'visitor-writes': 20 };

/** Read units paid by one token. A page of 100 deliveries consumes about 30, a message about 45. */
const UNITS_PER_TOKEN = 100;

/** Price of a write unit in read units (Amazon DynamoDB pricing, on-demand capacity). */
const READS_PER_WRITE = 5;

/** Tokens of a request, by the capacity units that it consumed. */
export const computeTokens = ({ reads, writes }: { reads: number; writes: number }): number =>
  Math.max(1, Math.ceil((reads + READS_PER_WRITE * writes) / UNITS_PER_TOKEN));

/** Tokens that a window inherits: what the previous one used beyond its limit, at most one whole window. */
export const computeDebt = (used: number, limit: number): number =>
  Math.min(Math.max(0, used - limit), limit);

/** An organization's budget by its tier, or that of a conversation's visitors. */
export type Budget = Tier | VisitorBudget;

/** Name in header fields. */
export type BudgetName = Budget | SharedBudget;

export const WINDOW_SECONDS = 60;

/**
 * Returns the window of a point in time. Windows follow one another without gaps, equal on every machine.
 * @returns its start in seconds since the epoch, and whole seconds until the next window, at least 1
 */
export function getRateWindow(now: Date) {
  const seconds = now.getTime() / 1000;
  const start = Math.floor(seconds / WINDOW_SECONDS) * WINDOW_SECONDS;
  return { start, resetSeconds: Math.max(1, Math.ceil(start + WINDOW_SECONDS - seconds)) };
}

/** Rest of a budget after a request. */
export interface Quota {
  tier: BudgetName;
  /** Tokens in a window. */
  limit: number;
  /** 0 for a window in debt. */
  remaining: number;
  resetSeconds: number;
  allowed: boolean;
}

/**
 * Header fields of draft-ietf-httpapi-ratelimit-headers: `q` quota, `w` window, `r` remaining, `t` seconds to
 * the reset.
 */
export function buildQuotaHeaders(quota: Quota): Record<string, string> {
  const { tier, limit, remaining, resetSeconds, allowed } = quota;
  return {
    'RateLimit-Policy': `"${tier}";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"${tier}";r=${remaining};t=${resetSeconds}`,
    ...(allowed ? {} : { 'Retry-After': String(resetSeconds) }),
  };
}

export const rateLimits = (environment: z.output<typeof ApiEnvironment>): RateLimits => ({
  sandbox: environment.RATE_LIMIT_SANDBOX,
  standard: environment.RATE_LIMIT_STANDARD,
  scale: environment.RATE_LIMIT_SCALE,
});

export const visitorLimits = (environment: z.output<typeof VisitorEnvironment>): RateLimits => ({
  sandbox: environment.VISITOR_LIMIT_SANDBOX,
  standard: environment.VISITOR_LIMIT_STANDARD,
  scale: environment.VISITOR_LIMIT_SCALE,
});
