import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { Delivery, type DeliveryRef } from '../domain/delivery.ts';
import type { Examined } from '../domain/redelivery-job.ts';
import { DELIVERY_SHARDS, deliveriesBetween, keys, shards } from './keys.ts';
import { readRows } from './readable.ts';
import type { Table } from './table.ts';

const Row = z.pick(Delivery, { id: true, eventId: true, eventType: true, status: true });

/** A part of the deliveries of a time, in the order of their identifiers. */
export interface DeliveryRange {
  items: Examined[];
  /** To go on after. */
  place: string;
  /** Nothing more is in the time. */
  isLast: boolean;
}

/** All deliveries of an endpoint that were created in a time, oldest first: what became of them, and nothing else. */
export function deliveryRanges(deliveries: Table) {
  async function read(pk: string, from: string, to: string, limit: number) {
    const { Items = [], LastEvaluatedKey } = await deliveries.client.send(
      new QueryCommand({
        TableName: deliveries.name,
        // Who has seen that a delivery failed expects it to be among them.
        ConsistentRead: true,
        Limit: limit,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ProjectionExpression: 'pk, sk, id, eventId, eventType, #status',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
      }),
    );
    return {
      items: readRows(deliveries, Items, (row) => Row.parse(row)),
      end: LastEvaluatedKey?.sk as string | undefined,
    };
  }

  /**
   * Reads on after a place. The shards are read side by side, and what lies beyond the one that got least far is left to the next part: all that is
   * given lies before all that follows.
   * @param time its end excluded
   * @param limit of each shard
   */
  return async (
    { webhookId, generation }: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    time: { from: Date; to: Date },
    after: string | undefined,
    limit: number,
  ): Promise<DeliveryRange> => {
    const [first, last] = deliveriesBetween(time.from, time.to);
    // Nothing lies between a place and what follows it: identifiers are all of one length.
    const from = after === undefined ? first : `${after}!`;
    if (from >= last) return { items: [], place: last, isLast: true };
    const parts = await Promise.all(
      shards(DELIVERY_SHARDS).map((shard) =>
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
