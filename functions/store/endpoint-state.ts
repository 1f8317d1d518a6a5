import { all, assign, attribute, attributes, type Expression, expression } from '../aws/expression.ts';
import { buildUpdate, EXISTS, type Table, update } from '../aws/table.ts';
import type { EndpointOutcome } from '../domain/delivery.ts';
import {
  type Endpoint,
  type EndpointEffect,
  FAILURES_TO_DISABLE,
  FAILURES_TO_WARN,
} from '../domain/endpoint.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { SLOW_SECONDS, STALLED_SECONDS } from '../domain/lanes.ts';
import { keys } from './keys.ts';
import type { Change } from './transaction.ts';

/** What is known of an endpoint's receiver from its deliveries. */
const STATE_FIELDS = ['disabledAt', 'disabledReason', 'failingSince', 'slowUntil', 'stalledUntil'] as const;

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
    name: 'slowUntil' | 'stalledUntil';
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
 */
export function buildEndpointChange(
  service: Pick<Table, 'name'>,
  endpoint: EndpointOutcome['endpoint'],
  effect: Exclude<EndpointEffect, 'none'>,
  now: Date,
): Change {
  const { update: text, condition } = EFFECTS[effect](now.toISOString());
  return buildUpdate(service, keys.endpoint(endpoint.orgId, endpoint.id), {
    refusal: 'endpoint-changed',
    update: text,
    if: all(expression`#status = ${'active'}`, condition),
  });
}

const buildCount = (now: string): Expression =>
  expression`SET failingSince = if_not_exists(failingSince, ${now}) ADD consecutiveFailures ${1}`;

const EFFECTS: Record<
  Exclude<EndpointEffect, 'none'>,
  (now: string) => { update: Expression; condition?: Expression }
> = {
  reset: () => ({ update: expression`SET consecutiveFailures = ${0} REMOVE failingSince` }),
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
