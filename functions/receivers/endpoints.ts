import * as z from 'zod/mini';
import { all, assign, attributes, type Expression, expression, unchanged } from '../aws/expression.ts';
import type { OrgId, ReceiverId } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { EXISTS, get, query, queryAll, readRows, type Table, toExpiry } from '../aws/table.ts';
import {
  buildAddition,
  buildRemoval,
  buildUpdate,
  type Change,
  type Counter,
  decreaseCount,
  decreaseOrDeleteCount,
  increaseCount,
} from '../aws/transaction.ts';
import { HISTORY_DAYS } from '../events/events.ts';
import { keys } from '../tenancy/keys.ts';
import {
  computeSuccession,
  DeletedEndpoint,
  DisabledEndpoint,
  Endpoint,
  type EndpointChange,
  endpointStateStore,
  getCountedHost,
  MAX_ENDPOINTS,
  MAX_ENDPOINTS_PER_HOST,
} from './endpoint.ts';
import { NEW } from './pace.ts';

const parse = (row: unknown): Endpoint => Endpoint.parse(row);

/** Host whose limit the endpoint counts against. Absent in older rows and for loopback. */
const Counted = z.object({ countedHost: z.optional(z.string()) });

const HostCount = z.object({ endpoints: z.int() });

/** A host and its number of endpoints when read. */
export type CountedAt = { host: string; endpoints: number };

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
    const row = await get(service, keys.endpoint(orgId, id));
    return row && parse(row);
  };

/** Webhook endpoints of an organization, with counters that enforce their limits. */
export function endpointStore(service: Table) {
  /** An endpoint that cannot be read is deleted as well, and leaves nothing. */
  function buildRemains(orgId: OrgId, row: Record<string, unknown>, now: Date): Change[] {
    const { success, data } = DeletedEndpoint.safeParse({ ...row, deletedAt: now.toISOString() });
    if (!success) return [];
    const key = keys.deletedEndpoint(orgId, data.deletedAt, data.id);
    return [buildAddition(service, { ...key, ...data, expiresAt: toExpiry(now, DELETED_DAYS) })];
  }

  /** @param limit of the rows that are read, the newest first */
  async function readDisabled(pk: string, url: string, limit?: number): Promise<DisabledEndpoint[]> {
    const { rows } = await query(service, {
      where: expression`pk = ${pk}`,
      filter: expression`#url = ${url} AND attribute_exists(disabledAt)`,
      newestFirst: true,
      limit,
    });
    return readRows(service, rows, (row) => DisabledEndpoint.parse(row));
  }

  const buildUncount = (orgId: OrgId, counted: CountedAt | 'none'): Change[] =>
    counted === 'none'
      ? []
      : [decreaseOrDeleteCount(service, getHostCounter(orgId, counted.host), counted.endpoints)];

  /** Changes that remove an endpoint, on condition that its counted host did not change. */
  function buildRowRemoval(
    orgId: OrgId,
    id: ReceiverId,
    counted: CountedAt | 'none',
    condition?: Expression,
  ): Change[] {
    const counter = getCounter(orgId);
    return [
      buildRemoval(service, keys.endpoint(orgId, id), counter.refusals, isCountedAt(counted), condition),
      decreaseCount(service, counter),
      ...buildUncount(orgId, counted),
    ];
  }

  /** Reads an endpoint to change or remove it. Its row may be unreadable as an endpoint. */
  async function findToChange(orgId: OrgId, id: ReceiverId) {
    const row = await get(service, keys.endpoint(orgId, id));
    if (row === undefined) return undefined;
    const { countedHost: host } = Counted.parse(row);
    if (host === undefined) return { orgId, id, row, counted: 'none' as const };
    const count = (await get(service, keys.endpointHostCount(orgId, host))) ?? { endpoints: 0 };
    return { orgId, id, row, counted: { host, endpoints: HostCount.parse(count).endpoints } };
  }
  type EndpointToChange = NonNullable<Awaited<ReturnType<typeof findToChange>>>;

  return {
    ...endpointStateStore(service),

    find: readEndpoint(service),

    list(orgId: OrgId, page: PageRequest): Promise<Page<Endpoint>> {
      return readPage(service, [keys.endpoints(orgId)], page, { parse });
    },

    /** Consistent: an endpoint misses no event after the response to its registration. */
    async all(orgId: OrgId): Promise<Endpoint[]> {
      const rows = await queryAll(service, { where: expression`pk = ${keys.endpoints(orgId)}` });
      return readRows(service, rows, parse);
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

    findToChange,

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
      const isUnchanged = unchanged(row, settings);
      return [...buildRowRemoval(orgId, id, counted, isUnchanged), ...buildRemains(orgId, row, now)];
    },

    buildRowRemoval,

    /**
     * Endpoints that were deleted since a time, the earliest deletion first.
     * @param most how many at most
     */
    async deletedSince(orgId: OrgId, time: string, most: number): Promise<DeletedEndpoint[]> {
      const where = expression`pk = ${keys.deletedEndpoints(orgId)} AND sk >= ${time}`;
      const { rows } = await query(service, { where, limit: most });
      return readRows(service, rows, (row) => DeletedEndpoint.parse(row));
    },

    /**
     * Finds the disabled endpoints that a new one with this URL replaces, deleted ones included. Reads all
     * endpoints and the last 50 deletions at most.
     */
    async findReplaced(orgId: OrgId, url: string): Promise<ReturnType<typeof computeSuccession>> {
      const disabled = await Promise.all([
        readDisabled(keys.endpoints(orgId), url),
        readDisabled(keys.deletedEndpoints(orgId), url, MAX_DELETED_PREDECESSORS),
      ]);
      return computeSuccession(disabled.flat());
    },

    /**
     * Changes settings as `buildSettingsUpdate` does, and the counts of hosts. Refused as
     * `endpoint-host-limit` too.
     * @param settings at least one
     */
    buildUpdate({ orgId, id, row, counted }: EndpointToChange, settings: EndpointChange): Change[] {
      const from = counted === 'none' ? undefined : counted.host;
      const to = settings.url === undefined ? from : getCountedHost(settings.url);
      const isMoved = from !== to;
      const moved = isMoved ? { countedHost: to ?? null } : {};
      return [
        ...(isMoved && to !== undefined ? [increaseCount(service, getHostCounter(orgId, to))] : []),
        ...(isMoved ? buildUncount(orgId, counted) : []),
        buildSettingsUpdate(service, { orgId, id, row }, settings, {
          moved,
          if: settings.url === undefined ? undefined : isCountedAt(counted),
        }),
      ];
    },
  };
}

/**
 * Changes settings of an endpoint or channel; null removes one. A new URL makes it new. Refused as
 * `endpoint-changed` when one of the settings was changed since the row was read.
 */
export function buildSettingsUpdate(
  service: Pick<Table, 'name'>,
  { orgId, id, row }: { orgId: OrgId; id: ReceiverId; row: Record<string, unknown> },
  settings: EndpointChange,
  { moved = {}, if: condition }: { moved?: object; if?: Expression | undefined } = {},
): Change {
  const isNewUrl = settings.url !== undefined && settings.url !== row.url;
  return buildUpdate(service, keys.endpoint(orgId, id), {
    refusal: 'endpoint-changed',
    update: setOrRemove({ ...settings, ...(isNewUrl && { pace: NEW }), ...moved }),
    if: all(EXISTS, condition, unchanged(row, Object.keys(settings))),
  });
}

const isCountedAt = (counted: CountedAt | 'none'): Expression =>
  counted === 'none'
    ? expression`attribute_not_exists(countedHost)`
    : expression`countedHost = ${counted.host}`;

/** @param values null for those to remove */
function setOrRemove(values: Readonly<Record<string, unknown>>): Expression {
  const entries = Object.entries(values);
  const set = entries.filter(([, value]) => value !== null);
  const removed = entries.flatMap(([name, value]) => (value === null ? [name] : []));
  const assigned = set.length > 0 ? expression`SET ${assign(Object.fromEntries(set))}` : expression``;
  return removed.length > 0 ? expression`${assigned} REMOVE ${attributes(removed)}` : assigned;
}
