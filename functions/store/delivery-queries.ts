import * as z from 'zod/mini';
import { expression, isOneOf } from '../aws/expression.ts';
import { query, readRows, type Table } from '../aws/table.ts';
import { Delivery, type DeliveryRef, type DeliveryStatus, OPEN_STATUSES } from '../domain/delivery.ts';
import type { ReceiverId } from '../domain/ids.ts';
import type { ExaminedDelivery } from '../domain/redelivery-job.ts';
import type { Tenant } from '../domain/tenant.ts';
import { parseDelivery } from './deliveries.ts';
import { buildIdBounds, DELIVERY_SHARDS, keys, listShards } from './keys.ts';
import {
  getSuccessor,
  type Page,
  type PageRequest,
  rangeScan,
  readMatching,
  type ScanFilter,
} from './pages.ts';

/** All conditions must hold. */
export interface DeliveryFilter {
  status?: readonly DeliveryStatus[] | undefined;
  eventType?: readonly Delivery['eventType'][] | undefined;
  /** Range of creation times, as in the ids; `to` is exclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** Range of times that an id can carry. */
const FIRST = new Date(0);
const LAST = new Date(2 ** 48 - 1);

/**
 * Lists an endpoint's deliveries by status, event type and time, newest first. The time range bounds the
 * query; the other conditions filter rows, of which a page examines a bounded number.
 * @returns pages of `readMatching`, which may be short
 */
export function filteredDeliveries(deliveries: Table) {
  return (
    tenant: Tenant,
    endpoint: ReceiverId,
    page: PageRequest,
    { status, eventType, from = FIRST, to = LAST }: DeliveryFilter,
  ): Promise<Page<Delivery>> => {
    const filter: ScanFilter = { prefix: 'dlv', from, to, wanted: { status, eventType } };
    const scans = listShards(DELIVERY_SHARDS).map((shard) => {
      const pk = keys.deliveries(endpoint, tenant.generation, shard);
      return rangeScan(deliveries, pk, filter, parseDelivery, 'newest first');
    });
    return readMatching(scans, page, 'newest first');
  };
}

const Row = z.pick(Delivery, { id: true, eventId: true, eventType: true, status: true });

/** A part of the deliveries of a time range, by ascending id. */
export interface DeliveryRange {
  items: ExaminedDelivery[];
  /** Id after which the next part begins. */
  place: string;
  /** Whether the range ends here. */
  isLast: boolean;
}

/** Reads id, event and status of all deliveries that an endpoint got in a time range, oldest first. */
export function deliveryRanges(deliveries: Table) {
  async function read(pk: string, from: string, to: string, limit: number) {
    // Consistently: a caller that has seen a delivery fail expects it here.
    const { rows, next } = await query(deliveries, {
      where: expression`pk = ${pk} AND sk BETWEEN ${from} AND ${to}`,
      attributes: ['pk', 'sk', ...Object.keys(Row.shape)],
      limit,
    });
    return {
      items: readRows(deliveries, rows, (row) => Row.parse(row)),
      end: next?.sk as string | undefined,
    };
  }

  /**
   * Reads the next part. Shards are read in parallel; rows beyond the end of the shortest read are left to
   * the next part, so that parts are in order.
   * @param time `to` is exclusive
   * @param limit rows per shard
   */
  return async (
    { webhookId, generation }: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    time: { from: Date; to: Date },
    after: string | undefined,
    limit: number,
  ): Promise<DeliveryRange> => {
    const [first, last] = buildIdBounds(time.from, time.to);
    const from = after === undefined ? first : getSuccessor(after);
    if (from >= last) return { items: [], place: last, isLast: true };
    const parts = await Promise.all(
      listShards(DELIVERY_SHARDS).map((shard) =>
        read(keys.deliveries(webhookId, generation, shard), from, last, limit),
      ),
    );
    const ends = parts.flatMap(({ end }) => end ?? []).sort();
    const place = ends[0] ?? last;
    const items = parts
      .flatMap((part) => part.items)
      .filter(({ id }) => id <= place)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return { items, place, isLast: ends.length === 0 };
  };
}

/**
 * Rows that successive requests examine per shard, until enough are open; 500 in total. While an endpoint
 * fails, almost all are open, except at the beginning of the range. The first request is small, to learn the
 * size of rows.
 */
const EXAMINED_ROWS = [5, 15, 80, 200, 200] as const;

/** Read units left for a request. Each read subtracts what it consumed; no read starts at zero. */
export interface ReadBudget {
  units: number;
}

/** A range of a shard's rows, by id. */
interface OpenRowsQuery {
  pk: string;
  range: [first: string, last: string];
  /** Rows to examine, open or not. */
  limit: number;
  newestFirst?: boolean;
  after?: Record<string, unknown> | undefined;
  budget: ReadBudget;
}

/**
 * Lists the open deliveries among a range of a shard's rows, eventually consistent.
 * @returns in `after` the position to continue from; absent at the end
 */
async function listOpenAmong(
  deliveries: Table,
  { pk, range: [first, last], limit, newestFirst = false, after, budget }: OpenRowsQuery,
): Promise<{ open: Delivery[]; after?: Record<string, unknown> }> {
  if (first > last) return { open: [] };
  const { rows, next, units } = await query(deliveries, {
    where: expression`pk = ${pk} AND sk BETWEEN ${first} AND ${last}`,
    filter: isOneOf('status', OPEN_STATUSES),
    consistent: false,
    newestFirst,
    limit,
    after,
  });
  budget.units -= units ?? 0;
  return { open: readRows(deliveries, rows, parseDelivery), ...(next && { after: next }) };
}

/**
 * Finds an endpoint's oldest open deliveries, for an estimate: examines a bounded number of rows, eventually
 * consistent.
 * @param from the earliest creation time
 * @param wanted per shard; a few more may be returned, and fewer when the budget ends
 */
export function openDeliveries(deliveries: Table) {
  async function findOldestOpen(
    pk: string,
    range: [string, string],
    wanted: number,
    budget: ReadBudget,
  ): Promise<Delivery[]> {
    const open: Delivery[] = [];
    let after: Record<string, unknown> | undefined;
    for (const limit of EXAMINED_ROWS) {
      const found = await listOpenAmong(deliveries, { pk, range, limit, after, budget });
      open.push(...found.open);
      ({ after } = found);
      if (open.length >= wanted || after === undefined || budget.units <= 0) break;
    }
    return open;
  }

  return async (
    { webhookId, generation }: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    from: Date,
    now: Date,
    wanted: number,
    budget: ReadBudget,
  ): Promise<Delivery[]> => {
    if (budget.units <= 0) return [];
    const range = buildIdBounds(from, now);
    const found = await Promise.all(
      listShards(DELIVERY_SHARDS).map((shard) =>
        findOldestOpen(keys.deliveries(webhookId, generation, shard), range, wanted, budget),
      ),
    );
    return found.flat();
  };
}

/** Newest rows to examine per shard. While the receiver is down, they are open. */
const NEWEST_ROWS = 10;

/**
 * Finds since when deliveries to an endpoint wait, from the newest rows of a range, eventually consistent.
 * Older deliveries may have waited longer. One whose attempt has failed waits at once, another one from a
 * time on.
 * @param to the time before which any open delivery waits
 * @returns the earliest creation time of a waiting one; null when none waits, or the budget is used up
 */
export function waitingDeliveries(deliveries: Table) {
  async function findNewestOpen(
    { webhookId, generation }: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    [from, to]: [Date, Date],
    budget: ReadBudget,
  ): Promise<Delivery[]> {
    if (budget.units <= 0) return [];
    const range = buildIdBounds(from, to);
    const found = await Promise.all(
      listShards(DELIVERY_SHARDS).map((shard) =>
        listOpenAmong(deliveries, {
          pk: keys.deliveries(webhookId, generation, shard),
          range,
          limit: NEWEST_ROWS,
          newestFirst: true,
          budget,
        }),
      ),
    );
    return found.flatMap(({ open }) => open);
  }

  return async (
    ref: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    { from, to, now }: { from: Date; to: Date; now: Date },
    budget: ReadBudget,
  ): Promise<string | null> => {
    const old = await findNewestOpen(ref, [from, to], budget);
    const waiting =
      old.length > 0
        ? old
        : (await findNewestOpen(ref, [to, now], budget)).filter(({ status }) => status === 'retrying');
    return waiting.map(({ createdAt }) => createdAt).sort()[0] ?? null;
  };
}
