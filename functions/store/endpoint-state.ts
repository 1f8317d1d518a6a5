import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { EndpointOutcome } from '../domain/delivery.ts';
import { Endpoint, type EndpointEffect, FAILURES_TO_DISABLE, FAILURES_TO_WARN } from '../domain/endpoint.ts';
import { AT_RISK_SECONDS } from '../domain/failure-streak.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { SLOW_SECONDS, STALLED_SECONDS } from '../domain/lanes.ts';
import { keys } from './keys.ts';
import { readItem, type Table, update } from './table.ts';
import { type Change, retryContention } from './transaction.ts';

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
        {
          refusal: 'endpoint-missing',
          write: {
            Update: {
              TableName: service.name,
              Key: keys.endpoint(orgId, id),
              UpdateExpression: `SET #status = :active, consecutiveFailures = :zero REMOVE ${STATE_FIELDS.join(', ')}`,
              ConditionExpression: 'attribute_exists(pk)',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: { ':active': 'active', ':zero': 0 },
            },
          },
        },
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
      await retryContention(() =>
        update(service, {
          Key: keys.endpoint(orgId, id),
          UpdateExpression: 'REMOVE unproven',
          ConditionExpression: 'unproven = :true AND (attribute_not_exists(slowUntil) OR slowUntil <= :now)',
          ExpressionAttributeValues: { ':true': true, ':now': now.toISOString() },
        }),
      );
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
      const command = new UpdateCommand({
        TableName: service.name,
        Key: keys.endpoint(orgId, id),
        UpdateExpression: 'SET streak = if_not_exists(streak, :streak)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':streak': randomUUID() },
        ReturnValues: 'ALL_NEW',
      });
      return retryContention(async () => {
        try {
          const { Attributes } = await service.client.send(command);
          return Endpoint.parse(Attributes);
        } catch (error) {
          if (error instanceof ConditionalCheckFailedException) return undefined;
          if (!(error instanceof TransactionConflictException)) throw error;
          // Most often the end of another delivery, which needed the streak too and has started it.
          const row = await readItem(service, { ...keys.endpoint(orgId, id) });
          if (row?.streak === undefined) throw error;
          return Endpoint.parse(row);
        }
      });
    },

    /** Removes the mark only if it is still the one that was read. */
    async endStalled(orgId: OrgId, id: ReceiverId, seen: string): Promise<void> {
      await update(service, {
        Key: keys.endpoint(orgId, id),
        UpdateExpression: 'REMOVE stalledUntil',
        ConditionExpression: 'stalledUntil = :seen',
        ExpressionAttributeValues: { ':seen': seen },
      });
    },
  };
}

/** Does nothing when the mark has more than half of its time left. */
const markEndpoint = (
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
): Promise<boolean> =>
  retryContention(() =>
    update(service, {
      Key: keys.endpoint(orgId, id),
      UpdateExpression: `SET ${name} = :until${unproven ? ', unproven = :true' : ''}`,
      ConditionExpression: `attribute_exists(pk) AND (attribute_not_exists(${name}) OR ${name} < :soon)`,
      ExpressionAttributeValues: {
        ':until': until.toISOString(),
        ...(unproven ? { ':true': true } : {}),
        ':soon': new Date(until.getTime() - (holdsSeconds / 2) * 1000).toISOString(),
      },
    }),
  );

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
  const { streak, consecutiveFailures } = endpoint;
  const { update, condition, values } = EFFECTS[effect](now, consecutiveFailures);
  const sameStreak = streak === undefined ? 'attribute_not_exists(streak)' : 'streak = :streak';
  return {
    refusal: 'endpoint-changed',
    write: {
      Update: {
        TableName: service.name,
        Key: keys.endpoint(endpoint.orgId, endpoint.id),
        UpdateExpression: update,
        ConditionExpression: `#status = :active AND ${sameStreak} AND ${condition}`,
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: {
          ':active': 'active',
          ...(streak === undefined ? {} : { ':streak': streak }),
          ...values,
        },
      },
    },
  };
}

const COUNT = 'SET failingSince = if_not_exists(failingSince, :now) ADD consecutiveFailures :one';

const EFFECTS: Record<
  Exclude<EndpointEffect, 'none'>,
  (now: Date, failures?: number) => { update: string; condition: string; values: Record<string, unknown> }
> = {
  // Keep failures counted since the read: they ended after this success.
  reset: (_now, failures = 0) => ({
    update: 'SET consecutiveFailures = :zero REMOVE failingSince, streak',
    condition:
      'consecutiveFailures = :failures AND (consecutiveFailures > :zero OR attribute_exists(streak))',
    values: { ':zero': 0, ':failures': failures },
  }),
  // The failure that warns is counted with its notice only.
  count: (now) => ({
    update: COUNT,
    condition: 'consecutiveFailures < :last AND consecutiveFailures <> :warned',
    values: {
      ':now': now.toISOString(),
      ':one': 1,
      ':last': FAILURES_TO_DISABLE - 1,
      ':warned': FAILURES_TO_WARN - 1,
    },
  }),
  warn: (now) => ({
    update: COUNT,
    condition: 'consecutiveFailures = :warned',
    values: { ':now': now.toISOString(), ':one': 1, ':warned': FAILURES_TO_WARN - 1 },
  }),
  disable: (now) => ({
    update:
      'SET #status = :disabled, disabledAt = :now, disabledReason = :reason, failingSince = if_not_exists(failingSince, :now) ADD consecutiveFailures :one',
    condition: 'consecutiveFailures >= :last',
    values: {
      ':disabled': 'auto_disabled',
      ':now': now.toISOString(),
      ':reason': 'consecutive_failures',
      ':one': 1,
      ':last': FAILURES_TO_DISABLE - 1,
    },
  }),
};
