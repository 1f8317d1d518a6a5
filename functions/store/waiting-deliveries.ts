import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type DeliveryRef, OPEN_STATUSES } from '../domain/delivery.ts';
import { deliveryOf } from './deliveries.ts';
import { DELIVERY_SHARDS, deliveriesBetween, keys, shards } from './keys.ts';
import type { Table } from './table.ts';

/**
 * Rows of a shard that are looked at, the newest ones: while a receiver takes nothing they are open, and an endpoint that is owed little has
 * no others.
 */
const EXAMINED = 10;

/**
 * Since when a delivery to an endpoint waits: the time of the oldest open one among the newest of a time, eventually consistent; null when
 * none of these is open. Older ones may have waited for longer.
 * @param from and `to`, by the time that identifiers carry
 */
export function waitingDeliveries(deliveries: Table) {
  const openIn = async (pk: string, [first, last]: [string, string]): Promise<string[]> => {
    const { Items = [] } = await deliveries.client.send(
      new QueryCommand({
        TableName: deliveries.name,
        Limit: EXAMINED,
        ScanIndexForward: false,
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
      }),
    );
    return Items.map((item) => deliveryOf(item).createdAt);
  };

  return async (
    { webhookId, generation }: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    from: Date,
    to: Date,
  ): Promise<string | null> => {
    const range = deliveriesBetween(from, to);
    const found = await Promise.all(
      shards(DELIVERY_SHARDS).map((shard) => openIn(keys.deliveries(webhookId, generation, shard), range)),
    );
    return found.flat().sort()[0] ?? null;
  };
}
