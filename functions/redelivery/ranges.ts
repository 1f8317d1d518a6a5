import * as z from 'zod/mini';
import { expression } from '../aws/expression.ts';
import { buildIdBound, buildIdBounds } from '../aws/ids.ts';
import { getSuccessor, readPage } from '../aws/pages.ts';
import { query, readRows, type Table } from '../aws/table.ts';
import { Delivery, type DeliveryRef } from '../delivery/delivery.ts';
import { listPartitions } from '../events/event-log.ts';
import { type EventType, OutboxEvent } from '../events/events.ts';
import { DELIVERY_SHARDS, keys, listShards } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import type { ExaminedPage } from './job.ts';

const DeliveryRow = z.pick(Delivery, { id: true, eventId: true, eventType: true, status: true });

/** Reads id, event and status of all deliveries that an endpoint got in a time range, oldest first. */
export function deliveryRanges(deliveries: Table) {
  async function read(pk: string, from: string, to: string, limit: number) {
    // Consistently: a caller that has seen a delivery fail expects it here.
    const { rows, next } = await query(deliveries, {
      where: expression`pk = ${pk} AND sk BETWEEN ${from} AND ${to}`,
      attributes: ['pk', 'sk', ...Object.keys(DeliveryRow.shape)],
      limit,
    });
    return {
      items: readRows(deliveries, rows, (row) => DeliveryRow.parse(row)),
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
  ): Promise<ExaminedPage> => {
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

const EventRow = z.pick(OutboxEvent, { id: true, type: true, onlyTo: true });

/** Reads the events of some types in a time range, oldest first. */
export function eventRanges(outbox: Table) {
  const attributes = ['pk', 'sk', ...Object.keys(EventRow.shape)];
  return async (
    tenant: Tenant,
    time: { from: Date; to: Date },
    types: readonly EventType[],
    after: string | undefined,
    limit: number,
  ): Promise<ExaminedPage<z.infer<typeof EventRow>>> => {
    const page = { limit, after };
    const { items, next } = await readPage(outbox, listPartitions(tenant), page, {
      parse: (row) => EventRow.parse(row),
      order: 'oldest first',
      times: { prefix: 'evt', ...time },
      wanted: { type: types },
      attributes,
    });
    return { items, place: next ?? buildIdBound('evt', time.to), isLast: next === undefined };
  };
}
