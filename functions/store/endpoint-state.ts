import { randomUUID } from 'node:crypto';
import {
  all,
  assign,
  attribute,
  attributes,
  type Expression,
  expression,
  unchanged,
} from '../aws/expression.ts';
import { buildUpdate, EXISTS, get, type Table, update } from '../aws/table.ts';
import type { EndpointOutcome } from '../domain/delivery.ts';
import { Endpoint, type EndpointEffect, FAILURES_TO_DISABLE, FAILURES_TO_WARN } from '../domain/endpoint.ts';
import { AT_RISK_SECONDS } from '../domain/failure-streak.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { SLOW_SECONDS, STALLED_SECONDS } from '../domain/lanes.ts';
import { keys } from './keys.ts';
import type { Change } from './transaction.ts';

/** What is known of an endpoint's receiver from its deliveries. */
const STATE_FIELDS = [
  'disabledAt',
  'disabledReason',
  'failingSince',
  'streak',
  'atRiskUntil',
  'slowUntil',
  'stalledUntil',
] as const;

/** The part of `endpointStore` that writes the state of an endpoint's receiver, as deliveries show it. */
export function endpointStateStore(service: Table) {
  return {
    /** Makes an endpoint active without failures; no change when it is. Refused as `endpoint-missing`. */
    buildActivation({ orgId, id, ...state }: Endpoint): Change[] {
      if (STATE_FIELDS.every((name) => state[name] === undefined) && state.consecutiveFailures === 0)
        return [];
      return [
        buildUpdate(service, keys.endpoint(orgId, id), {
          refusal: 'endpoint-missing',
          update: expression`SET ${assign({ status: 'active', consecutiveFailures: 0 })} REMOVE ${attributes(STATE_FIELDS)}`,
          if: EXISTS,
        }),
      ];
    },

    /**
     * Marks an endpoint as slow and unproven. Skips the write while a mark has more than half of its time
     * left.
     */
    async markSlow(orgId: OrgId, id: ReceiverId, until: Date): Promise<void> {
      const slow = { name: 'slowUntil', until, holdsSeconds: SLOW_SECONDS, unproven: true } as const;
      await markEndpoint(service, { orgId, id }, slow);
    },

    /** Ends `unproven`, unless the endpoint is marked as slow at `now`. */
    async markProven(orgId: OrgId, id: ReceiverId, now: Date): Promise<void> {
      const isSlow = expression`(attribute_not_exists(slowUntil) OR slowUntil <= ${now.toISOString()})`;
      await update(service, keys.endpoint(orgId, id), {
        update: expression`REMOVE unproven`,
        if: all(expression`unproven = ${true}`, isSlow),
      });
    },

    /** Marks an endpoint as stalled, as `markSlow` does. */
    async markStalled(orgId: OrgId, id: ReceiverId, until: Date): Promise<void> {
      await markEndpoint(
        service,
        { orgId, id },
        { name: 'stalledUntil', until, holdsSeconds: STALLED_SECONDS },
      );
    },

    /** Marks an endpoint as at risk, as `markSlow` does. */
    async markAtRisk(orgId: OrgId, id: ReceiverId, until: Date): Promise<void> {
      await markEndpoint(
        service,
        { orgId, id },
        { name: 'atRiskUntil', until, holdsSeconds: AT_RISK_SECONDS },
      );
    },

    /**
     * Starts a streak of failures unless one exists.
     * @returns the endpoint with its streak; undefined when it does not exist
     */
    async beginStreak(orgId: OrgId, id: ReceiverId): Promise<Endpoint | undefined> {
      const key = keys.endpoint(orgId, id);
      const change = {
        update: expression`SET streak = if_not_exists(streak, ${randomUUID()})`,
        if: EXISTS,
        returns: 'new',
      } as const;
      const { kind, row } = await update(service, key, change).catch(async (error: unknown) => {
        if (!(error instanceof Error) || error.name !== 'TransactionConflictException') throw error;
        // Most often the end of another delivery, which needed the streak too and has started it.
        const found = await get(service, key);
        if (found?.streak === undefined) throw error;
        return { kind: 'done', row: found };
      });
      return kind === 'done' ? Endpoint.parse(row) : undefined;
    },

    /** Removes the mark only if it is still the one that was read. */
    async endStalled(orgId: OrgId, id: ReceiverId, seen: string): Promise<void> {
      await update(service, keys.endpoint(orgId, id), {
        update: expression`REMOVE stalledUntil`,
        if: expression`stalledUntil = ${seen}`,
      });
    },
  };
}

/** Does nothing when the mark has more than half of its time left. */
async function markEndpoint(
  service: Table,
  { orgId, id }: Pick<Endpoint, 'orgId' | 'id'>,
  {
    name,
    until,
    holdsSeconds,
    unproven = false,
  }: {
    name: 'slowUntil' | 'stalledUntil' | 'atRiskUntil';
    until: Date;
    holdsSeconds: number;
    unproven?: boolean;
  },
): Promise<void> {
  const soon = new Date(until.getTime() - (holdsSeconds / 2) * 1000).toISOString();
  await update(service, keys.endpoint(orgId, id), {
    update: expression`SET ${assign({ [name]: until.toISOString(), ...(unproven && { unproven }) })}`,
    if: all(EXISTS, expression`(attribute_not_exists(${attribute(name)}) OR ${attribute(name)} < ${soon})`),
  });
}

/**
 * Effect of a finished delivery on its endpoint, in the transaction that settles the delivery. Its condition
 * names the prior state, so only one of several concurrent failures disables; refused as `endpoint-changed`.
 * @param endpoint as read: the change applies to its current streak only
 */
export function buildEndpointChange(
  service: Pick<Table, 'name'>,
  endpoint: EndpointOutcome['endpoint'],
  effect: Exclude<EndpointEffect, 'none'>,
  now: Date,
): Change {
  const { update: text, condition } = EFFECTS[effect](now.toISOString(), endpoint.consecutiveFailures);
  return buildUpdate(service, keys.endpoint(endpoint.orgId, endpoint.id), {
    refusal: 'endpoint-changed',
    update: text,
    if: all(expression`#status = ${'active'}`, unchanged({ streak: endpoint.streak }, ['streak']), condition),
  });
}

const buildCount = (now: string): Expression =>
  expression`SET failingSince = if_not_exists(failingSince, ${now}) ADD consecutiveFailures ${1}`;

const EFFECTS: Record<
  Exclude<EndpointEffect, 'none'>,
  (now: string, failures?: number) => { update: Expression; condition: Expression }
> = {
  // Keep failures counted since the read: they ended after this success.
  reset: (_now, failures = 0) => ({
    update: expression`SET consecutiveFailures = ${0} REMOVE failingSince, streak`,
    condition: expression`consecutiveFailures = ${failures} AND (consecutiveFailures > ${0} OR attribute_exists(streak))`,
  }),
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
