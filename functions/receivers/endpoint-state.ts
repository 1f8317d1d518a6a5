import { all, assign, attributes, type Expression, expression, unchanged } from '../aws/expression.ts';
import type { OrgId, ReceiverId } from '../aws/ids.ts';
import { EXISTS, type Table, update } from '../aws/table.ts';
import { buildUpdate, type Change } from '../aws/transaction.ts';
import { keys } from '../tenancy/keys.ts';
import { type Endpoint, FAILURES_TO_DISABLE, FAILURES_TO_WARN } from './endpoint.ts';
import { NEW, type PaceMark } from './pace.ts';

/** Of a disabled or failing endpoint. */
const FAILURE_FIELDS = ['disabledAt', 'disabledReason', 'failingSince'] as const;

/** The part of `endpointStore` that writes the state of an endpoint's receiver, as deliveries show it. */
export function endpointStateStore(service: Table) {
  return {
    /**
     * Makes an endpoint active and new, without failures; no change when it is. Refused as
     * `endpoint-missing`.
     */
    buildActivation({ orgId, id, pace, consecutiveFailures, ...state }: Endpoint): Change[] {
      const hasFailed = consecutiveFailures > 0 || FAILURE_FIELDS.some((name) => state[name] !== undefined);
      if (!hasFailed && pace?.until === undefined) return [];
      const set = assign({ status: 'active', consecutiveFailures: 0, pace: pace && NEW });
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

/** What the end of a delivery does to its endpoint. `warn` is a count with a notice for the admins. */
export type EndpointEffect = 'none' | 'reset' | 'count' | 'warn' | 'disable';

/**
 * Computes the effect of a delivery's end on the count of consecutive failures (docs/specification.md,
 * Deliveries). Without a change there is no write: one item must not take a write per delivery.
 */
export function computeEndpointEffect(
  endpoint: Pick<Endpoint, 'status' | 'consecutiveFailures'> | undefined,
  ended: 'succeeded' | 'exhausted',
): EndpointEffect {
  if (endpoint === undefined || endpoint.status === 'auto_disabled') return 'none';
  if (ended === 'succeeded') return endpoint.consecutiveFailures === 0 ? 'none' : 'reset';
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
