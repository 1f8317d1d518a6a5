import * as z from 'zod/mini';
import {
  all,
  assign,
  attributes,
  type Expression,
  expression,
  isOneOf,
  unchanged,
} from '../aws/expression.ts';
import { EndpointId, OrgId, ReceiverId, Timestamp } from '../aws/ids.ts';
import { EXISTS, type Table, update } from '../aws/table.ts';
import { buildUpdate, type Change } from '../aws/transaction.ts';
import { EventFilter, SubscribableType } from '../events/events.ts';
import { keys } from '../tenancy/keys.ts';
import { NEW, PaceMark } from './pace.ts';
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

export const EndpointStatus = z.enum(['active', 'paused', 'auto_disabled']);
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
  filter: z.optional(EventFilter),
  description: z.optional(z.string()),
  /** Attempts per second to which the customer limits it. */
  maxPerSecond: z.optional(MaxPerSecond),
  status: EndpointStatus,
  consecutiveFailures: z.int().check(z.nonnegative()),
  keyVersion: z.string(),
  createdAt: Timestamp,
  /** While it is paused. */
  pausedAt: z.optional(Timestamp),
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
  /** Of one that is registered to recover what was missed: since when. */
  recoversFrom: z.optional(Timestamp),
});
export type Endpoint = z.infer<typeof Endpoint>;

/** What a customer changes of an endpoint. Null removes an optional setting. */
export interface EndpointChange {
  url?: string;
  events?: Endpoint['events'];
  filter?: EventFilter | null;
  description?: string | null;
  maxPerSecond?: number | null;
  /** Of a channel. */
  name?: string;
  status?: 'active' | 'paused';
  pausedAt?: string | null;
  consecutiveFailures?: 0;
  pace?: PaceMark;
  disabledAt?: null;
  disabledReason?: null;
  failingSince?: null;
}

/** What pauses an active endpoint at a time, and what ends its pause. */
export const pause = (at: Date) => ({ status: 'paused', pausedAt: at.toISOString() }) as const;
export const RESUMED = { status: 'active', pausedAt: null } as const;
/** What makes a disabled receiver active again, new and without failures. */
export const ENABLED = {
  status: 'active',
  consecutiveFailures: 0,
  pace: NEW,
  disabledAt: null,
  disabledReason: null,
  failingSince: null,
} as const;

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
    recoversFrom: true,
  }),
  { deletedAt: Timestamp },
);
export type DeletedEndpoint = z.infer<typeof DeletedEndpoint>;

/** Endpoints before the predecessor that an endpoint names at most. */
const MAX_REPLACED = 10;

/** A disabled endpoint, which may have replaced others. */
export const DisabledEndpoint = z.extend(
  Predecessor,
  z.pick(Endpoint, { predecessor: true, replaces: true, recoversFrom: true }).shape,
);
export type DisabledEndpoint = z.infer<typeof DisabledEndpoint>;

/**
 * Returns whom a new endpoint replaces: the endpoint that was disabled last, and those before it; and since
 * when the former was to recover events itself.
 */
export function computeSuccession(
  disabled: readonly DisabledEndpoint[],
): Pick<Endpoint, 'predecessor' | 'replaces' | 'recoversFrom'> {
  const latest = disabled.toSorted((a, b) => (a.disabledAt < b.disabledAt ? -1 : 1)).at(-1);
  if (latest === undefined) return {};
  const { predecessor, replaces = [], recoversFrom, ...rest } = latest;
  if (predecessor === undefined) return { predecessor: rest };
  return {
    predecessor: rest,
    replaces: [predecessor.id, ...replaces].slice(0, MAX_REPLACED),
    ...(recoversFrom !== undefined && { recoversFrom }),
  };
}

/**
 * Since when deliveries fail (unknown for failures that began before it was recorded), and how many more
 * failures disable the endpoint. Null while none fails.
 */
export const getFailureStatus = ({
  status,
  consecutiveFailures,
  failingSince,
}: Pick<Endpoint, 'status' | 'consecutiveFailures'> & { failingSince?: string | null | undefined }) =>
  status === 'active' && consecutiveFailures > 0
    ? { since: failingSince, failuresUntilDisabled: FAILURES_TO_DISABLE - consecutiveFailures }
    : null;

/** Of a disabled or failing endpoint. */
const FAILURE_FIELDS = ['disabledAt', 'disabledReason', 'failingSince'] as const;

/** The part of `endpointStore` that writes the state of an endpoint's receiver, as deliveries show it. */
export function endpointStateStore(service: Table) {
  return {
    /**
     * Makes an endpoint new, without failures, and active unless it is paused; no change when it is. Refused
     * as `endpoint-missing`.
     */
    buildActivation({ orgId, id, pace, consecutiveFailures, ...state }: Endpoint): Change[] {
      const status = state.status === 'paused' ? 'paused' : 'active';
      const hasFailed = consecutiveFailures > 0 || FAILURE_FIELDS.some((name) => state[name] !== undefined);
      if (!hasFailed && pace?.until === undefined) return [];
      const set = assign({ status, consecutiveFailures: 0, pace: pace && NEW });
      return [
        buildUpdate(service, keys.endpoint(orgId, id), {
          refusal: 'endpoint-missing',
          update: expression`SET ${set} REMOVE ${attributes(FAILURE_FIELDS)}`,
          if: EXISTS,
        }),
      ];
    },

    /** Replaces the mark that was seen by another one, or by none. Does nothing when it has changed since. */
    async setPace(
      orgId: OrgId,
      id: ReceiverId,
      seen: PaceMark | undefined,
      mark: PaceMark | undefined,
    ): Promise<void> {
      await update(service, keys.endpoint(orgId, id), {
        update: mark === undefined ? expression`REMOVE pace` : expression`SET pace = ${mark}`,
        if: all(EXISTS, unchanged({ pace: seen }, ['pace'])),
      });
    },
  };
}

/**
 * What the end of a delivery does to its endpoint. `warn` is a count with a notice for the admins, and
 * `recover` the reset after it.
 */
export type EndpointEffect = 'none' | 'reset' | 'recover' | 'count' | 'warn' | 'disable';

/**
 * Computes the effect of a delivery's end on the count of consecutive failures (docs/specification.md,
 * Deliveries). Without a change there is no write: one item must not take a write per delivery.
 */
export function computeEndpointEffect(
  endpoint: Pick<Endpoint, 'status' | 'consecutiveFailures'> | undefined,
  ended: 'succeeded' | 'exhausted',
): EndpointEffect {
  if (endpoint === undefined || endpoint.status === 'auto_disabled') return 'none';
  if (ended === 'succeeded') {
    if (endpoint.consecutiveFailures === 0) return 'none';
    return endpoint.consecutiveFailures < FAILURES_TO_WARN ? 'reset' : 'recover';
  }
  if (endpoint.status === 'paused') return 'none';
  const failures = endpoint.consecutiveFailures + 1;
  if (failures >= FAILURES_TO_DISABLE) return 'disable';
  return failures === FAILURES_TO_WARN ? 'warn' : 'count';
}

/**
 * Effect of a finished delivery on its endpoint, in the transaction that settles the delivery. Its condition
 * names the prior state, so only one of several concurrent failures disables; refused as `endpoint-changed`.
 */
export function buildEndpointChange(
  service: Pick<Table, 'name'>,
  { orgId, id }: Pick<Endpoint, 'orgId' | 'id'>,
  effect: Exclude<EndpointEffect, 'none'>,
  now: Date,
): Change {
  const { update: text, condition } = EFFECTS[effect](now.toISOString());
  return buildUpdate(service, keys.endpoint(orgId, id), {
    refusal: 'endpoint-changed',
    update: text,
    if: all(isOneOf('status', RESETS.includes(effect) ? ['active', 'paused'] : ['active']), condition),
  });
}

const RESETS: readonly EndpointEffect[] = ['reset', 'recover'];
const RESET = expression`SET consecutiveFailures = ${0} REMOVE failingSince`;

const buildCount = (now: string): Expression =>
  expression`SET failingSince = if_not_exists(failingSince, ${now}) ADD consecutiveFailures ${1}`;

const EFFECTS: Record<
  Exclude<EndpointEffect, 'none'>,
  (now: string) => { update: Expression; condition?: Expression }
> = {
  reset: () => ({ update: RESET, condition: expression`consecutiveFailures < ${FAILURES_TO_WARN}` }),
  recover: () => ({ update: RESET, condition: expression`consecutiveFailures >= ${FAILURES_TO_WARN}` }),
  // The failure that warns is counted with its notice only.
  count: (now) => ({
    update: buildCount(now),
    condition: expression`consecutiveFailures < ${FAILURES_TO_DISABLE - 1} AND consecutiveFailures <> ${FAILURES_TO_WARN - 1}`,
  }),
  warn: (now) => ({
    update: buildCount(now),
    condition: expression`consecutiveFailures = ${FAILURES_TO_WARN - 1}`,
  }),
  disable: (now) => ({
    update: expression`SET ${assign({ status: 'auto_disabled', disabledAt: now, disabledReason: 'consecutive_failures' })}, failingSince = if_not_exists(failingSince, ${now}) ADD consecutiveFailures ${1}`,
    condition: expression`consecutiveFailures >= ${FAILURES_TO_DISABLE - 1}`,
  }),
};
