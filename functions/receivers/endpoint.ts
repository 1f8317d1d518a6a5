import * as z from 'zod/mini';
import { EndpointId, OrgId, ReceiverId, Timestamp } from '../aws/ids.ts';
import { SubscribableType } from '../events/events.ts';
import { PaceMark } from './pace.ts';
import { getHost, isLoopbackHost } from './receiver-url.ts';

/**
 * Consecutive failed deliveries (not attempts) after which an endpoint is disabled (docs/specification.md,
 * Limits).
 */
export const FAILURES_TO_DISABLE = 10;

/** Consecutive failed deliveries after which admins are warned. */
export const FAILURES_TO_WARN = 5;

/** Maximum number of endpoints of an organization (docs/specification.md, Limits). */
export const MAX_ENDPOINTS = 50;

/**
 * Maximum number of an organization's endpoints at one host, disabled ones included. It bounds the requests
 * of one event to a host.
 */
export const MAX_ENDPOINTS_PER_HOST = 10;

/** Attempts per second to which an endpoint may be limited (docs/specification.md, Webhook endpoints). */
export const MaxPerSecond = /* @__PURE__ */ z.int().check(z.minimum(1), z.maximum(1000));

/** Maximum length of an endpoint's description in code points. */
export const MAX_DESCRIPTION_LENGTH = 200;

/**
 * Returns the host that an endpoint counts for. Undefined for loopback, where a developer's receivers share
 * one host.
 */
export function getCountedHost(url: string): string | undefined {
  const host = getHost(new URL(url));
  return isLoopbackHost(host) ? undefined : host;
}

export const EndpointStatus = z.enum(['active', 'auto_disabled']);
export const DisabledReason = z.enum(['consecutive_failures']);

/** An endpoint that was disabled before another one with its URL was registered. */
const Predecessor = z.object({
  id: EndpointId,
  /** Absent when an operator disabled it. */
  failingSince: z.optional(Timestamp),
  disabledAt: Timestamp,
});

/** A webhook endpoint as stored. Its signing secret is derived from `keyVersion` and `id`, and not stored. */
export const Endpoint = z.object({
  id: ReceiverId,
  orgId: OrgId,
  url: z.string(),
  events: z.array(SubscribableType),
  description: z.optional(z.string()),
  /** Attempts per second to which the customer limits it. */
  maxPerSecond: z.optional(MaxPerSecond),
  status: EndpointStatus,
  consecutiveFailures: z.int().check(z.nonnegative()),
  keyVersion: z.string(),
  createdAt: Timestamp,
  disabledAt: z.optional(Timestamp),
  disabledReason: z.optional(DisabledReason),
  /** Time of the first of the current consecutive failures. */
  failingSince: z.optional(Timestamp),
  /** Absent while it is fast. */
  pace: z.optional(PaceMark),
  /** Determined at registration. */
  predecessor: z.optional(Predecessor),
  /** Endpoints that the predecessor replaced in turn, the latest first. */
  replaces: z.optional(z.array(EndpointId)),
});
export type Endpoint = z.infer<typeof Endpoint>;

/** What a customer changes of an endpoint. Null removes an optional setting. */
export interface EndpointChange {
  url?: string;
  events?: Endpoint['events'];
  description?: string | null;
  maxPerSecond?: number | null;
}

/** What remains of a deleted endpoint, for as long as its deliveries are kept. */
export const DeletedEndpoint = z.extend(
  z.pick(Endpoint, {
    id: true,
    url: true,
    createdAt: true,
    failingSince: true,
    disabledAt: true,
    predecessor: true,
    replaces: true,
  }),
  { deletedAt: Timestamp },
);
export type DeletedEndpoint = z.infer<typeof DeletedEndpoint>;

/** Endpoints before the predecessor that an endpoint names at most. */
const MAX_REPLACED = 10;

/** A disabled endpoint, which may have replaced others. */
export const DisabledEndpoint = z.extend(
  Predecessor,
  z.pick(Endpoint, { predecessor: true, replaces: true }).shape,
);
export type DisabledEndpoint = z.infer<typeof DisabledEndpoint>;

/** Returns whom a new endpoint replaces: the endpoint that was disabled last, and those before it. */
export function computeSuccession(
  disabled: readonly DisabledEndpoint[],
): Pick<Endpoint, 'predecessor' | 'replaces'> {
  const latest = disabled.toSorted((a, b) => (a.disabledAt < b.disabledAt ? -1 : 1)).at(-1);
  if (latest === undefined) return {};
  const { predecessor, replaces = [], ...rest } = latest;
  if (predecessor === undefined) return { predecessor: rest };
  return { predecessor: rest, replaces: [predecessor.id, ...replaces].slice(0, MAX_REPLACED) };
}

/**
 * Since when deliveries fail (unknown for failures that began before it was recorded), and how many more
 * failures disable the endpoint. Null while none fails.
 */
export const getFailureStatus = ({
  status,
  consecutiveFailures,
  failingSince,
}: Pick<Endpoint, 'status' | 'consecutiveFailures' | 'failingSince'>) =>
  status === 'active' && consecutiveFailures > 0
    ? { since: failingSince, failuresUntilDisabled: FAILURES_TO_DISABLE - consecutiveFailures }
    : null;
