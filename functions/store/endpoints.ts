import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import {
  computeSuccession,
  DeletedEndpoint,
  DisabledEndpoint,
  Endpoint,
  type EndpointChange,
  getCountedHost,
  MAX_ENDPOINTS,
  MAX_ENDPOINTS_PER_HOST,
} from '../domain/endpoint.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { HISTORY_DAYS } from '../domain/redelivery.ts';
import { endpointStateStore } from './endpoint-state.ts';
import { type Key, keys } from './keys.ts';
import { type Page, type PageRequest, partitionReader, readNewestFirst } from './pages.ts';
import { buildUnchangedCondition, readItem, readRows, type Table, toExpiry } from './table.ts';
import {
  buildAddition,
  buildRemoval,
  type Change,
  type Counter,
  decreaseCount,
  decreaseOrDeleteCount,
  increaseCount,
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

/** Reads one endpoint, for a function that needs no more of the store: it loads no more. */
export const readEndpoint =
  (service: Table) =>
  async (orgId: OrgId, id: ReceiverId): Promise<Endpoint | undefined> => {
    const row = await readItem(service, { ...keys.endpoint(orgId, id) });
    return row && parse(row);
  };

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
  async function readDisabled(pk: string, url: string, limit?: number): Promise<DisabledEndpoint[]> {
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
    return readRows(service, Items, (row) => DisabledEndpoint.parse(row));
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
    ...endpointStateStore(service),

    find: readEndpoint(service),

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
     * Finds the disabled endpoints that a new one with this URL replaces, deleted ones included. Reads all
     * endpoints and the last 50 deletions at most.
     */
    async findReplaced(orgId: OrgId, url: string): Promise<Pick<Endpoint, 'predecessor' | 'replaces'>> {
      const found = await Promise.all([
        readDisabled(keys.endpoints(orgId), url),
        readDisabled(keys.deletedEndpoints(orgId), url, MAX_DELETED_PREDECESSORS),
      ]);
      return computeSuccession(found.flat());
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
