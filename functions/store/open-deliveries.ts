import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type Delivery, type DeliveryRef, OPEN_STATUSES } from '../domain/delivery.ts';
import { deliveryOf } from './deliveries.ts';
import { DELIVERY_SHARDS, deliveriesBetween, keys, shards } from './keys.ts';
import type { Table } from './table.ts';

/** Rows of a shard that are looked at: while an endpoint fails, the oldest ones of its schedule are open. */
const MOST_EXAMINED = 20;

/**
 * The oldest open deliveries to an endpoint of a time, for an estimate: of a bounded number of rows, however many there are, and eventually consistent.
 * @param from the earliest that is looked at, by the time that identifiers carry
 */
export function openDeliveries(deliveries: Table) {
  return async (
    { webhookId, generation }: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    from: Date,
    now: Date,
  ): Promise<Delivery[]> => {
    const [first, last] = deliveriesBetween(from, now);
    const found = await Promise.all(
      shards(DELIVERY_SHARDS).map((shard) =>
        deliveries.client.send(
          new QueryCommand({
            TableName: deliveries.name,
            Limit: MOST_EXAMINED,
            KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
            FilterExpression: '#status IN (:pending, :retrying)',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: {
              ':pk': keys.deliveries(webhookId, generation, shard),
              ':first': first,
              ':last': last,
              ':pending': OPEN_STATUSES[0],
              ':retrying': OPEN_STATUSES[1],
            },
          }),
        ),
      ),
    );
    return found.flatMap(({ Items = [] }) => Items.map(deliveryOf));
  };
}
