import * as z from 'zod/mini';
import { SubscribableType } from './events.ts';
import { OrgId, ReceiverId, TraceId } from './ids.ts';
import { getHost, isLoopbackHost } from './receiver-url.ts';
import { LIVE_GENERATION } from './tenant.ts';

/**
 * Consecutive failed *deliveries* (not attempts) after which an endpoint is disabled (public-api.md, Limits).
 */
export const FAILURES_TO_DISABLE = 10;

/** Endpoints an organization may have (decisions.md, Error types: LIMIT_EXCEEDED). */
export const MAX_ENDPOINTS = 50;

/**
 * Endpoints of an organization at one host, so that an event is at most so many requests to it. Disabled ones
 * count.
 */
export const MAX_ENDPOINTS_PER_HOST = 10;

/**
 * The host at which an endpoint is counted. Undefined for this machine, where a developer's receivers have
 * one host.
 */
export function getCountedHost(url: string): string | undefined {
  const host = getHost(new URL(url));
  return isLoopbackHost(host) ? undefined : host;
}

export const EndpointStatus = z.enum(['active', 'auto_disabled']);
export const DisabledReason = z.enum(['consecutive_failures']);

/**
 * A webhook endpoint as it is stored. Its signing secret is derived from `keyVersion` and `id`, and nowhere
 * stored.
 */
export const Endpoint = z.object({
  id: ReceiverId,
  orgId: OrgId,
  url: z.string(),
  events: z.array(SubscribableType),
  status: EndpointStatus,
  consecutiveFailures: z.int().check(z.nonnegative()),
  keyVersion: z.string(),
  createdAt: z.iso.datetime(),
  disabledAt: z.optional(z.iso.datetime()),
  disabledReason: z.optional(DisabledReason),
  /** When the first of the present consecutive failures was counted. */
  failingSince: z.optional(z.iso.datetime()),
  /** Names the present streak of failures. Set before the first of them is counted, removed by a success. */
  streak: z.optional(z.string()),
  /**
   * Until when a delivery to it may end as a failure, so that each success looks whether it ends a streak.
   */
  atRiskUntil: z.optional(z.iso.datetime()),
  /** Until when it counts as one that keeps workers waiting. */
  slowUntil: z.optional(z.iso.datetime()),
  /**
   * No attempt was answered fast since it was registered, got its present URL, or was last marked as slow.
   */
  unproven: z.optional(z.literal(true)),
  /** Until when it counts as one that keeps workers waiting until the deadline. */
  stalledUntil: z.optional(z.iso.datetime()),
});
export type Endpoint = z.infer<typeof Endpoint>;

/** What a delivery's end does to the endpoint that it was for. */
export type EndpointEffect = 'none' | 'reset' | 'count' | 'disable';

/**
 * How the end of a delivery changes its endpoint's count of consecutive failures (decisions.md, Deliveries).
 * An endpoint that needs no change gets no write: one item must not take a write for each delivery.
 */
export function computeEndpointEffect(
  endpoint: Pick<Endpoint, 'status' | 'consecutiveFailures' | 'streak'> | undefined,
  ended: 'succeeded' | 'exhausted',
): EndpointEffect {
  if (endpoint === undefined || endpoint.status === 'auto_disabled') return 'none';
  if (ended === 'succeeded')
    return endpoint.consecutiveFailures === 0 && endpoint.streak === undefined ? 'none' : 'reset';
  return endpoint.consecutiveFailures + 1 >= FAILURES_TO_DISABLE ? 'disable' : 'count';
}

/**
 * While deliveries to an endpoint fail: since when, which is not known of endpoints that began to before it
 * was recorded, and how many more failures in a row disable it. Null otherwise.
 */
export const getFailureStatus = ({
  status,
  consecutiveFailures,
  failingSince,
}: Pick<Endpoint, 'status' | 'consecutiveFailures' | 'failingSince'>) =>
  status === 'active' && consecutiveFailures > 0
    ? { since: failingSince, failuresUntilDisabled: FAILURES_TO_DISABLE - consecutiveFailures }
    : null;

/**
 * Tells an organization's admins that an endpoint of theirs was disabled. It commits in the transaction that
 * disables, so that there is one exactly if the endpoint was disabled by failures, and never two.
 */
export const DisablingNotice = z.object({
  kind: z.literal('endpoint-disabled'),
  orgId: OrgId,
  /** Of the data whose delivery disabled it. Notices of before there were sandboxes do not say it. */
  generation: z._default(z.int(), LIVE_GENERATION),
  webhookId: ReceiverId,
  disabledAt: z.iso.datetime(),
  /** Of the delivery whose end it was. */
  traceId: TraceId,
});
export type DisablingNotice = z.infer<typeof DisablingNotice>;
