import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { EndpointOutcome } from '../domain/delivery.ts';
import {
  choosePredecessor,
  DeletedEndpoint,
  Endpoint,
  type EndpointChange,
  type EndpointEffect,
  FAILURES_TO_DISABLE,
  FAILURES_TO_WARN,
  getCountedHost,
  MAX_ENDPOINTS,
  MAX_ENDPOINTS_PER_HOST,
  Predecessor,
} from '../domain/endpoint.ts';
import { AT_RISK_SECONDS } from '../domain/failure-streak.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { SLOW_SECONDS, STALLED_SECONDS } from '../domain/lanes.ts';
import { HISTORY_DAYS } from '../domain/redelivery.ts';
import { type Key, keys } from './keys.ts';
import { type Page, type PageRequest, partitionReader, readNewestFirst } from './pages.ts';
import { buildUnchangedCondition, readItem, readRows, type Table, toExpiry, update } from './table.ts';
import {
  buildAddition,
  buildRemoval,
  type Change,
  type Counter,
  decreaseCount,
  decreaseOrDeleteCount,
  increaseCount,
  retryContention,
} from './transaction.ts';

const parse = (row: unknown): Endpoint => Endpoint.parse(row);

/** Host whose limit the endpoint counts against. Absent in older rows and for loopback. */
const Counted = z.object({ countedHost: z.optional(z.string()) });

const HostCount = z.object({ endpoints: z.int() });

/** An endpoint as read for a change: its row, and its counted host or `none`. */
export interface EndpointToChange {
  orgId: OrgId;
  id: ReceiverId;
  row: Record<string, unknown>;
  counted: CountedAt | 'none';
}

/** A host and its number of endpoints when read. */
export interface CountedAt {
  host: string;
  endpoints: number;
}

const getCounter = (orgId: OrgId): Counter => ({
  key: keys.endpointCount(orgId),
  things: 'endpoints',
  limit: MAX_ENDPOINTS,
  refusals: { full: 'endpoint-limit', missing: 'endpoint-missing' },
});

const getHostCounter = (orgId: OrgId, host: string): Counter => ({
  key: keys.endpointHostCount(orgId, host),
  things: 'endpoints',
  limit: MAX_ENDPOINTS_PER_HOST,
  refusals: { full: 'endpoint-host-limit', missing: 'endpoint-changed' },
});

/** A day longer than the deliveries. */
const DELETED_DAYS = HISTORY_DAYS + 1;

const MAX_DELETED_PREDECESSORS = 50;

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

/** Reads one endpoint, for a function that needs no more of the store: it loads no more. */
export const readEndpoint =
  (service: Table) =>
  async (orgId: OrgId, id: ReceiverId): Promise<Endpoint | undefined> => {
    const row = await readItem(service, { ...keys.endpoint(orgId, id) });
    return row && parse(row);
  };

/** What attempts record of an endpoint. A dispatcher loads no more of the store. */
export function endpointMarks(service: Table) {
  return {
    find: readEndpoint(service),

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
          return parse(Attributes);
        } catch (error) {
          if (error instanceof ConditionalCheckFailedException) return undefined;
          if (!(error instanceof TransactionConflictException)) throw error;
          // Most often the end of another delivery, which needed the streak too and has started it.
          const row = await readItem(service, { ...keys.endpoint(orgId, id) });
          if (row?.streak === undefined) throw error;
          return parse(row);
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

/** Webhook endpoints of an organization, with counters that enforce their limits. */
export function endpointStore(service: Table) {
  const read = (key: Key) => readItem(service, { ...key });

  /** An endpoint that cannot be read is deleted as well, and leaves nothing. */
  function buildRemains(orgId: OrgId, row: Record<string, unknown>, now: Date): Change[] {
    const { success, data } = DeletedEndpoint.safeParse({ ...row, deletedAt: now.toISOString() });
    if (!success) return [];
    const key = keys.deletedEndpoint(orgId, data.deletedAt, data.id);
    return [buildAddition(service, { ...key, ...data, expiresAt: toExpiry(now, DELETED_DAYS) })];
  }

  /** @param limit of the rows that are read, the newest first */
  async function readDisabled(pk: string, url: string, limit?: number): Promise<Predecessor[]> {
    const { Items = [] } = await service.client.send(
      new QueryCommand({
        TableName: service.name,
        ConsistentRead: true,
        ScanIndexForward: false,
        KeyConditionExpression: 'pk = :pk',
        FilterExpression: '#url = :url AND attribute_exists(disabledAt)',
        ExpressionAttributeNames: { '#url': 'url' },
        ExpressionAttributeValues: { ':pk': pk, ':url': url },
        ...(limit === undefined ? {} : { Limit: limit }),
      }),
    );
    return readRows(service, Items, (row) => Predecessor.parse(row));
  }

  const buildUncount = (orgId: OrgId, counted: CountedAt | 'none'): Change[] =>
    counted === 'none'
      ? []
      : [decreaseOrDeleteCount(service, getHostCounter(orgId, counted.host), counted.endpoints)];

  /** Changes that remove an endpoint, on condition that its counted host did not change. */
  function removalOf(
    orgId: OrgId,
    id: ReceiverId,
    counted: CountedAt | 'none',
    unchanged = buildUnchangedCondition({}, []),
  ): Change[] {
    const counter = getCounter(orgId);
    const { condition, values } = buildCountedCondition(counted);
    return [
      buildRemoval(service, keys.endpoint(orgId, id), counter.refusals, {
        condition: [condition, ...unchanged.conditions].join(' AND '),
        names: unchanged.names,
        values: { ...values, ...unchanged.values },
      }),
      decreaseCount(service, counter),
      ...buildUncount(orgId, counted),
    ];
  }

  return {
    ...endpointMarks(service),

    list(orgId: OrgId, page: PageRequest): Promise<Page<Endpoint>> {
      return readNewestFirst([partitionReader(service, keys.endpoints(orgId), parse)], page);
    },

    /** Consistent: an endpoint misses no event after the response to its registration. */
    async all(orgId: OrgId): Promise<Endpoint[]> {
      const { Items = [] } = await service.client.send(
        new QueryCommand({
          TableName: service.name,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': keys.endpoints(orgId) },
        }),
      );
      return readRows(service, Items, parse);
    },

    /** Adds and counts an endpoint; refused as `endpoint-limit` or `endpoint-host-limit` at a limit. */
    add(endpoint: Endpoint): Change[] {
      const host = getCountedHost(endpoint.url);
      return [
        increaseCount(service, getCounter(endpoint.orgId)),
        ...(host === undefined ? [] : [increaseCount(service, getHostCounter(endpoint.orgId, host))]),
        buildAddition(service, {
          ...keys.endpoint(endpoint.orgId, endpoint.id),
          ...endpoint,
          ...(host === undefined ? {} : { countedHost: host }),
        }),
      ];
    },

    /** Reads an endpoint to change or remove it. Its row may be unreadable as an endpoint. */
    async findToChange(orgId: OrgId, id: ReceiverId): Promise<EndpointToChange | undefined> {
      const row = await read(keys.endpoint(orgId, id));
      if (row === undefined) return undefined;
      const { countedHost: host } = Counted.parse(row);
      if (host === undefined) return { orgId, id, row, counted: 'none' };
      const { endpoints } = HostCount.parse(
        (await read(keys.endpointHostCount(orgId, host))) ?? { endpoints: 0 },
      );
      return { orgId, id, row, counted: { host, endpoints } };
    },

    /**
     * Removes and uncounts an endpoint. Refused as `endpoint-missing` or `endpoint-changed` when it does not
     * exist, or was changed since it was read.
     * @param settings attributes that must not have changed
     */
    buildRemoval(
      { orgId, id, row, counted }: EndpointToChange,
      settings: readonly string[],
      now: Date,
    ): Change[] {
      const unchanged = buildUnchangedCondition(row, settings);
      return [...removalOf(orgId, id, counted, unchanged), ...buildRemains(orgId, row, now)];
    },

    removalOf,

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
     * Endpoints that were deleted since a time, the earliest deletion first.
     * @param most how many at most
     */
    async deletedSince(orgId: OrgId, time: string, most: number): Promise<DeletedEndpoint[]> {
      const { Items = [] } = await service.client.send(
        new QueryCommand({
          TableName: service.name,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk AND sk >= :since',
          ExpressionAttributeValues: { ':pk': keys.deletedEndpoints(orgId), ':since': time },
          Limit: most,
        }),
      );
      return readRows(service, Items, (row) => DeletedEndpoint.parse(row));
    },

    /**
     * Finds the disabled endpoint that a new one with this URL replaces, a deleted one included. Reads all
     * endpoints and the last 50 deletions at most.
     */
    async findPredecessor(orgId: OrgId, url: string): Promise<Predecessor | undefined> {
      const found = await Promise.all([
        readDisabled(keys.endpoints(orgId), url),
        readDisabled(keys.deletedEndpoints(orgId), url, MAX_DELETED_PREDECESSORS),
      ]);
      return choosePredecessor(found.flat());
    },

    /**
     * Changes settings; null removes one. A new URL makes the endpoint unproven. Refused as
     * `endpoint-changed` when one of the settings was changed since the endpoint was read, and as
     * `endpoint-host-limit`.
     * @param settings at least one
     */
    buildUpdate({ orgId, id, row, counted }: EndpointToChange, settings: EndpointChange): Change[] {
      const unchanged = buildUnchangedCondition(row, Object.keys(settings));
      const isNewUrl = settings.url !== undefined && settings.url !== row.url;
      const fields = Object.entries({ ...settings, ...(isNewUrl ? { unproven: true } : {}) });
      if (settings.url === undefined)
        return [buildFieldsUpdate(service, keys.endpoint(orgId, id), fields, unchanged)];
      const to = getCountedHost(settings.url);
      const move = { counted, to };
      const update = buildFieldsUpdate(service, keys.endpoint(orgId, id), fields, unchanged, move);
      const from = counted === 'none' ? undefined : counted.host;
      if (from === to) return [update];
      return [
        ...(to === undefined ? [] : [increaseCount(service, getHostCounter(orgId, to))]),
        ...buildUncount(orgId, counted),
        update,
      ];
    },
  };
}

const buildCountedCondition = (counted: CountedAt | 'none') =>
  counted === 'none'
    ? { condition: 'attribute_exists(pk) AND attribute_not_exists(countedHost)', values: {} }
    : { condition: 'countedHost = :counted', values: { ':counted': counted.host } };

/** @param move the counted host before and after */
function buildFieldsUpdate(
  service: Pick<Table, 'name'>,
  key: Key,
  fields: readonly [name: string, value: unknown][],
  unchanged: ReturnType<typeof buildUnchangedCondition>,
  move?: { counted: CountedAt | 'none'; to: string | undefined },
): Change {
  const countedCondition = move && buildCountedCondition(move.counted);
  const kept = fields.filter(([, value]) => value !== null);
  const hasNewHost = move?.to !== undefined;
  const sets = [...kept.map(([name]) => `#${name} = :${name}`), ...(hasNewHost ? ['countedHost = :to'] : [])];
  const removes = [
    ...fields.flatMap(([name, value]) => (value === null ? [`#${name}`] : [])),
    ...(move && !hasNewHost ? ['countedHost'] : []),
  ];
  const values = {
    ...Object.fromEntries(kept.map(([name, value]) => [`:${name}`, value])),
    ...unchanged.values,
    ...countedCondition?.values,
    ...(hasNewHost ? { ':to': move.to } : {}),
  };
  return {
    refusal: 'endpoint-changed',
    write: {
      Update: {
        TableName: service.name,
        Key: key,
        UpdateExpression: [
          ...(sets.length === 0 ? [] : [`SET ${sets.join(', ')}`]),
          ...(removes.length === 0 ? [] : [`REMOVE ${removes.join(', ')}`]),
        ].join(' '),
        ConditionExpression: [
          countedCondition?.condition ?? 'attribute_exists(pk)',
          ...unchanged.conditions,
        ].join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(fields.map(([name]) => [`#${name}`, name])),
        // DynamoDB refuses an empty map.
        ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
      },
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
