import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Delivery, type DeliveryRef } from '../domain/delivery.ts';
import { creationTime, type DeliveryId, type EventId, type ReceiverId } from '../domain/ids.ts';
import { Arrival, EVENT_DAYS, HISTORY_DAYS } from '../domain/redelivery.ts';
import type { Tenant } from '../domain/tenant.ts';
import { deliveryKey } from './due-index.ts';
import { DELIVERY_SHARDS, keys, markOf, shards } from './keys.ts';
import { newestFirst, type Page, type PageRequest, partition } from './pages.ts';
import { expiry, itemsAt, readRows, type Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** The delivery that a row of the table, or of its stream, holds. @throws a zod error when it holds none */
export const deliveryOf = (row: unknown): Delivery => Delivery.parse(row);

const rowOf = (delivery: Delivery) => ({
  ...deliveryKey(delivery),
  ...markOf(delivery),
  ...delivery,
  expiresAt: expiry(new Date(delivery.createdAt), HISTORY_DAYS),
});

/** Creates deliveries, reads them by id and lists them. Their moves are in `delivery-moves.ts`. */
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
     * The status of each of these deliveries that exists.
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

    /** Adds a delivery unless it exists, as after a replayed batch. */
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

    /** Adds a delivery unless one exists under its id. @returns the one that exists then */
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

/**
 * Records that a redelivery succeeded, in the transaction that settles it; never refused, and the first
 * record stays. In a row of its own: an update of the failed delivery would appear in its table's stream as a
 * second end.
 */
export function arriving(service: Pick<Table, 'name'>, delivery: Delivery): Change {
  const { eventId, id } = delivery;
  const { ofSandbox } = markOf(delivery);
  return {
    refusal: 'exists',
    write: {
      Update: {
        TableName: service.name,
        Key: keys.arrival(delivery, delivery.webhookId, eventId),
        UpdateExpression: `SET eventId = :event, deliveryId = if_not_exists(deliveryId, :id), expiresAt = :expiry${ofSandbox === undefined ? '' : ', ofSandbox = :ofSandbox'}`,
        ExpressionAttributeValues: {
          ':event': eventId,
          ':id': id,
          // As long as its event may be redelivered.
          ':expiry': expiry(creationTime(eventId), EVENT_DAYS),
          ...(ofSandbox !== undefined && { ':ofSandbox': ofSandbox }),
        },
      },
    },
  };
}

/** Which events have succeeded by a redelivery. */
export function arrivalStore(service: Table) {
  return {
    /**
     * Those of an endpoint's events that a redelivery delivered, with its id.
     * @param events each once
     * @throws ReadThrottled when DynamoDB does not give all of it
     */
    async of(
      { webhookId, ...tenant }: Tenant & { webhookId: ReceiverId },
      events: readonly EventId[],
    ): Promise<Map<EventId, Delivery['id']>> {
      const rows = await itemsAt(
        service,
        events.map((event) => keys.arrival(tenant, webhookId, event)),
        // A caller who has seen it succeed expects no redelivery.
        { consistent: true },
      );
      return new Map(
        readRows(service, rows, (row) => Arrival.parse(row)).map(({ eventId, deliveryId }) => [
          eventId,
          deliveryId,
        ]),
      );
    },
  };
}
