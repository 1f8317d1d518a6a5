import type { Delivery } from '../domain/delivery.ts';
import { creationTime, type EventId, type ReceiverId } from '../domain/ids.ts';
import { Arrival, EVENT_DAYS } from '../domain/redelivery.ts';
import type { Tenant } from '../domain/tenant.ts';
import { itemsAt } from './batch-get.ts';
import { keys, markOf } from './keys.ts';
import { readRows } from './readable.ts';
import { expiry, type Table } from './table.ts';
import type { Change } from './transaction.ts';

/**
 * Notes that a redelivery has arrived, in the transaction that settles it; never refused. In a row of its own rather than in that of the delivery which
 * failed, whose table's stream would tell of an end where there was none. The first one stays.
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
          // For as long as its event may be sent again.
          ':expiry': expiry(creationTime(eventId), EVENT_DAYS),
          ...(ofSandbox !== undefined && { ':ofSandbox': ofSandbox }),
        },
      },
    },
  };
}

/** Which events have arrived by redeliveries. */
export function arrivalStore(service: Table) {
  return {
    /**
     * Of these events of an endpoint those that have arrived by a redelivery, and by which.
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
        // Who has seen that it arrived expects it not to be sent again.
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
