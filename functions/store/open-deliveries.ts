import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type Delivery, type DeliveryRef, OPEN_STATUSES } from '../domain/delivery.ts';
import { deliveryOf } from './deliveries.ts';
import { DELIVERY_SHARDS, deliveriesBetween, keys, shards } from './keys.ts';
import { readRows } from './readable.ts';
import type { Table } from './table.ts';

/**
 * Rows of a shard that are looked at, by request, until enough are open: while an endpoint fails, almost all
 * are but for the first part of the time, whose deliveries have ended if their attempts were not late. Five
 * hundred at most. The first rows tell how large they are.
 */
const EXAMINED = [5, 15, 80, 200, 200] as const;

/**
 * Read units that reads of a request may still consume. Each takes what it consumed, and none begins when
 * nothing is left.
 */
export interface ReadBudget {
  units: number;
}

/** A part of a shard's rows, by the time that their identifiers carry. */
export interface RowsOf {
  pk: string;
  range: [first: string, last: string];
  /** Rows that are looked at, open or not. */
  limit: number;
  newestFirst?: boolean;
  after?: Record<string, unknown> | undefined;
  budget: ReadBudget;
}

/**
 * The open ones of some deliveries of a shard, eventually consistent; none if the time ends before it begins.
 * `after` is where the next ones begin, absent at the end.
 */
export async function openAmong(
  deliveries: Table,
  { pk, range: [first, last], limit, newestFirst = false, after, budget }: RowsOf,
): Promise<{ open: Delivery[]; after?: Record<string, unknown> }> {
  if (first > last) return { open: [] };
  const {
    Items = [],
    LastEvaluatedKey,
    ConsumedCapacity,
  } = await deliveries.client.send(
    new QueryCommand({
      TableName: deliveries.name,
      Limit: limit,
      ReturnConsumedCapacity: 'TOTAL',
      ScanIndexForward: !newestFirst,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
      FilterExpression: '#status IN (:pending, :retrying)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':pk': pk,
        ':first': first,
        ':last': last,
        ':pending': OPEN_STATUSES[0],
        ':retrying': OPEN_STATUSES[1],
      },
      ...(after && { ExclusiveStartKey: after }),
    }),
  );
  budget.units -= ConsumedCapacity?.CapacityUnits ?? 0;
  return {
    open: readRows(deliveries, Items, deliveryOf),
    ...(LastEvaluatedKey && { after: LastEvaluatedKey }),
  };
}

/**
 * The oldest open deliveries to an endpoint of a time, for an estimate: of a bounded number of rows, however many there are, and eventually consistent.
 * @param from the earliest that is looked at, by the time that identifiers carry
 * @param wanted of each shard, where there are as many; there may be a few more, and fewer when the budget
 * ends
 */
export function openDeliveries(deliveries: Table) {
  async function oldestIn(
    pk: string,
    range: [string, string],
    wanted: number,
    budget: ReadBudget,
  ): Promise<Delivery[]> {
    const open: Delivery[] = [];
    let after: Record<string, unknown> | undefined;
    for (const limit of EXAMINED) {
      const found = await openAmong(deliveries, { pk, range, limit, after, budget });
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
    const range = deliveriesBetween(from, now);
    const found = await Promise.all(
      shards(DELIVERY_SHARDS).map((shard) =>
        oldestIn(keys.deliveries(webhookId, generation, shard), range, wanted, budget),
      ),
    );
    return found.flat();
  };
}
