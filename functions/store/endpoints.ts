import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { EndpointOutcome } from '../domain/delivery.ts';
import { Endpoint, type EndpointEffect, FAILURES_TO_DISABLE, MAX_ENDPOINTS } from '../domain/endpoint.ts';
import { AT_RISK_SECONDS } from '../domain/failure-streak.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { SLOW_SECONDS, STALLED_SECONDS } from '../domain/lanes.ts';
import { partition } from './collection.ts';
import { type Counter, countedDown, countedUp, removal } from './counted.ts';
import { keys } from './keys.ts';
import { newestFirst, type Page, type PageRequest } from './pages.ts';
import { type Table, updated } from './table.ts';
import { addition, besideTransactions, type Change } from './transaction.ts';

const parse = (row: unknown): Endpoint => Endpoint.parse(row);

const counterOf = (orgId: OrgId): Counter => ({
  key: keys.endpointCount(orgId),
  things: 'endpoints',
  limit: MAX_ENDPOINTS,
  refusals: { full: 'endpoint-limit', missing: 'endpoint-missing' },
});

/** Webhook endpoints of an organization, with a count of them that keeps their number within its limit. */
export function endpointStore(service: Table) {
  return {
    async find(orgId: OrgId, id: ReceiverId): Promise<Endpoint | undefined> {
      const { Item } = await service.client.send(
        new GetCommand({ TableName: service.name, Key: keys.endpoint(orgId, id), ConsistentRead: true }),
      );
      return Item && parse(Item);
    },

    list(orgId: OrgId, page: PageRequest): Promise<Page<Endpoint>> {
      return newestFirst([partition(service, keys.endpoints(orgId), parse)], page);
    },

    /** All endpoints of an organization. Consistent: one whose registration was answered misses no later event. */
    async all(orgId: OrgId): Promise<Endpoint[]> {
      const { Items = [] } = await service.client.send(
        new QueryCommand({
          TableName: service.name,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': keys.endpoints(orgId) },
        }),
      );
      return Items.map(parse);
    },

    /** Adds an endpoint and counts it; refused as `endpoint-limit` when the organization has no room for it. */
    add(endpoint: Endpoint): Change[] {
      return [
        countedUp(service, counterOf(endpoint.orgId)),
        addition(service, { ...keys.endpoint(endpoint.orgId, endpoint.id), ...endpoint }),
      ];
    },

    /** Removes an endpoint and uncounts it; refused as `endpoint-missing` when it is already gone. */
    remove(orgId: OrgId, id: ReceiverId): Change[] {
      const counter = counterOf(orgId);
      return [removal(service, keys.endpoint(orgId, id), counter.refusals), countedDown(service, counter)];
    },

    /**
     * Marks an endpoint as one that keeps workers waiting. Its item takes no write when it is marked for about as long already, however
     * many attempts tell so at once.
     */
    async markSlow(orgId: OrgId, id: ReceiverId, until: Date): Promise<void> {
      await mark(service, { orgId, id }, { name: 'slowUntil', until, holdsSeconds: SLOW_SECONDS });
    },

    /** Marks an endpoint as one that keeps workers waiting until the deadline, on the same terms. */
    async markStalled(orgId: OrgId, id: ReceiverId, until: Date): Promise<void> {
      await mark(service, { orgId, id }, { name: 'stalledUntil', until, holdsSeconds: STALLED_SECONDS });
    },

    /** Marks an endpoint as one whose deliveries may end as failures, on the same terms. */
    async markAtRisk(orgId: OrgId, id: ReceiverId, until: Date): Promise<void> {
      await mark(service, { orgId, id }, { name: 'atRiskUntil', until, holdsSeconds: AT_RISK_SECONDS });
    },

    /**
     * Begins a streak of failures, unless one has begun.
     * @returns the endpoint with its streak; undefined when there is no such endpoint
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
      try {
        const { Attributes } = await besideTransactions(() => service.client.send(command));
        return parse(Attributes);
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return undefined;
        throw error;
      }
    },

    /** Ends the mark as stalled that was seen; one that was renewed since stays. */
    async endStalled(orgId: OrgId, id: ReceiverId, seen: string): Promise<void> {
      await updated(service, {
        Key: keys.endpoint(orgId, id),
        UpdateExpression: 'REMOVE stalledUntil',
        ConditionExpression: 'stalledUntil = :seen',
        ExpressionAttributeValues: { ':seen': seen },
      });
    },

    /** Changes address and subscriptions, nothing else. Undefined when there is no such endpoint. */
    async update(
      orgId: OrgId,
      id: ReceiverId,
      change: Partial<Pick<Endpoint, 'url' | 'events'>>,
    ): Promise<Endpoint | undefined> {
      const fields = Object.entries(change).filter(([, value]) => value !== undefined);
      if (fields.length === 0) return this.find(orgId, id);
      try {
        const { Attributes } = await service.client.send(
          new UpdateCommand({
            TableName: service.name,
            Key: keys.endpoint(orgId, id),
            UpdateExpression: `SET ${fields.map(([name]) => `#${name} = :${name}`).join(', ')}`,
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeNames: Object.fromEntries(fields.map(([name]) => [`#${name}`, name])),
            ExpressionAttributeValues: Object.fromEntries(fields.map(([name, value]) => [`:${name}`, value])),
            ReturnValues: 'ALL_NEW',
          }),
        );
        return parse(Attributes);
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return undefined;
        throw error;
      }
    },
  };
}

/** Marks an endpoint, unless it is marked for more than half of the time already. */
const mark = (
  service: Table,
  { orgId, id }: Pick<Endpoint, 'orgId' | 'id'>,
  {
    name,
    until,
    holdsSeconds,
  }: { name: 'slowUntil' | 'stalledUntil' | 'atRiskUntil'; until: Date; holdsSeconds: number },
): Promise<boolean> =>
  besideTransactions(() =>
    updated(service, {
      Key: keys.endpoint(orgId, id),
      UpdateExpression: `SET ${name} = :until`,
      ConditionExpression: `attribute_exists(pk) AND (attribute_not_exists(${name}) OR ${name} < :soon)`,
      ExpressionAttributeValues: {
        ':until': until.toISOString(),
        ':soon': new Date(until.getTime() - (holdsSeconds / 2) * 1000).toISOString(),
      },
    }),
  );

/**
 * What the end of a delivery does to its endpoint, as a change for the settlement's transaction. Each names the
 * state that it may leave, so that of several failures at once exactly one disables; refused as `endpoint-changed`.
 * @param endpoint as it was seen: the change holds for its present streak only
 */
export function endpointChange(
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

const EFFECTS: Record<
  Exclude<EndpointEffect, 'none'>,
  (now: Date, failures?: number) => { update: string; condition: string; values: Record<string, unknown> }
> = {
  // One that was counted since ended later than this success, and is not to be forgotten with the others.
  reset: (_now, failures = 0) => ({
    update: 'SET consecutiveFailures = :zero REMOVE failingSince, streak',
    condition:
      'consecutiveFailures = :failures AND (consecutiveFailures > :zero OR attribute_exists(streak))',
    values: { ':zero': 0, ':failures': failures },
  }),
  count: (now) => ({
    update: 'SET failingSince = if_not_exists(failingSince, :now) ADD consecutiveFailures :one',
    condition: 'consecutiveFailures < :last',
    values: { ':now': now.toISOString(), ':one': 1, ':last': FAILURES_TO_DISABLE - 1 },
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
