import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { Endpoint, type EndpointEffect, FAILURES_TO_DISABLE, MAX_ENDPOINTS } from '../domain/endpoint.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { SLOW_SECONDS, STALLED_SECONDS } from '../domain/lanes.ts';
import { partition } from './collection.ts';
import { type Counter, countedDown, countedUp, removal } from './counted.ts';
import { keys } from './keys.ts';
import { newestFirst, type Page, type PageRequest } from './pages.ts';
import { type Table, updated } from './table.ts';
import { addition, type Change } from './transaction.ts';

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
  { name, until, holdsSeconds }: { name: 'slowUntil' | 'stalledUntil'; until: Date; holdsSeconds: number },
): Promise<boolean> =>
  updated(service, {
    Key: keys.endpoint(orgId, id),
    UpdateExpression: `SET ${name} = :until`,
    ConditionExpression: `attribute_exists(pk) AND (attribute_not_exists(${name}) OR ${name} < :soon)`,
    ExpressionAttributeValues: {
      ':until': until.toISOString(),
      ':soon': new Date(until.getTime() - (holdsSeconds / 2) * 1000).toISOString(),
    },
  });

/**
 * What the end of a delivery does to its endpoint, as a change for the settlement's transaction. Each names the
 * state that it may leave, so that of several failures at once exactly one disables; refused as `endpoint-changed`.
 */
export function endpointChange(
  service: Pick<Table, 'name'>,
  endpoint: Pick<Endpoint, 'orgId' | 'id'>,
  effect: Exclude<EndpointEffect, 'none'>,
  now: Date,
): Change {
  const { update, condition, values } = EFFECTS[effect](now);
  return {
    refusal: 'endpoint-changed',
    write: {
      Update: {
        TableName: service.name,
        Key: keys.endpoint(endpoint.orgId, endpoint.id),
        UpdateExpression: update,
        ConditionExpression: `#status = :active AND ${condition}`,
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':active': 'active', ...values },
      },
    },
  };
}

const EFFECTS: Record<
  Exclude<EndpointEffect, 'none'>,
  (now: Date) => { update: string; condition: string; values: Record<string, unknown> }
> = {
  reset: () => ({
    update: 'SET consecutiveFailures = :zero REMOVE failingSince',
    condition: 'consecutiveFailures > :zero',
    values: { ':zero': 0 },
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
