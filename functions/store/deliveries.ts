import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Delivery, type DeliveryRef } from '../domain/delivery.ts';
import type { DeliveryId, ReceiverId } from '../domain/ids.ts';
import { HISTORY_DAYS } from '../domain/redelivery.ts';
import type { Tenant } from '../domain/tenant.ts';
import { itemsAt } from './batch-get.ts';
import { partition } from './collection.ts';
import { deliveryKey } from './delivery-updates.ts';
import { DELIVERY_SHARDS, keys, markOf, shards } from './keys.ts';
import { newestFirst, type Page, type PageRequest } from './pages.ts';
import { readRows } from './readable.ts';
import { expiry, type Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** The delivery that a row of the table, or of its stream, holds. @throws a zod error when it holds none */
export const deliveryOf = (row: unknown): Delivery => Delivery.parse(row);

const rowOf = (delivery: Delivery) => ({
  ...deliveryKey(delivery),
  ...markOf(delivery),
  ...delivery,
  expiresAt: expiry(new Date(delivery.createdAt), HISTORY_DAYS),
});

/** Deliveries as they come into being and are read. How they move on is in `delivery-moves.ts`. */
export function deliveryStore(deliveries: Table) {
  const table = { TableName: deliveries.name };

  return {
    async find(ref: DeliveryRef): Promise<Delivery | undefined> {
      const { Item } = await deliveries.client.send(
        new GetCommand({ ...table, Key: deliveryKey(ref), ConsistentRead: true }),
      );
      return Item && deliveryOf(Item);
    },

    /**
     * How those of these deliveries stand that are there.
     * @param refs each once
     * @throws ReadThrottled when DynamoDB does not give all of it
     */
    async statuses(refs: readonly DeliveryRef[]): Promise<Map<DeliveryId, Delivery['status']>> {
      const rows = await itemsAt(deliveries, refs.map(deliveryKey), { consistent: true });
      return new Map(readRows(deliveries, rows, deliveryOf).map(({ id, status }) => [id, status]));
    },

    list(tenant: Tenant, endpoint: ReceiverId, page: PageRequest): Promise<Page<Delivery>> {
      const partitions = shards(DELIVERY_SHARDS).map((shard) =>
        partition(deliveries, keys.deliveries(endpoint, tenant.generation, shard), deliveryOf),
      );
      return newestFirst(partitions, page);
    },

    /** Adds a delivery unless it is already there, which a replayed batch finds. */
    async add(delivery: Delivery): Promise<'added' | 'exists'> {
      try {
        await deliveries.client.send(
          new PutCommand({
            ...table,
            Item: rowOf(delivery),
            ConditionExpression: 'attribute_not_exists(pk)',
          }),
        );
        return 'added';
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return 'exists';
        throw error;
      }
    },

    /** Adds a delivery unless one is there under its identifier, and gives the one that is there then. */
    async addOnce(delivery: Delivery): Promise<Delivery> {
      try {
        await deliveries.client.send(
          new PutCommand({
            ...table,
            Item: rowOf(delivery),
            ConditionExpression: 'attribute_not_exists(pk)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return delivery;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException) || error.Item === undefined) throw error;
        return deliveryOf(unmarshall(error.Item));
      }
    },

    /** The addition of a delivery as a change, for a transaction that makes it due as well. */
    adding(delivery: Delivery): Change {
      return addition(deliveries, rowOf(delivery));
    },
  };
}
