import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../../functions/aws/table.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';

/**
 * Stores deliveries if they do not exist. In batches: some engines fail hundreds of puts that wait for one
 * partition.
 */
export async function putDeliveries(table: Table, deliveries: readonly Delivery[]): Promise<void> {
  const store = deliveryStore(table);
  const puts = deliveries.map((delivery) => ({
    PutRequest: { Item: store.adding(delivery).write.Put?.Item },
  }));
  for (let first = 0; first < puts.length; first += 25) {
    const { UnprocessedItems = {} } = await table.client.send(
      new BatchWriteCommand({ RequestItems: { [table.name]: puts.slice(first, first + 25) } }),
    );
    if (Object.keys(UnprocessedItems).length > 0) throw new Error('the engine did not take all deliveries');
  }
}
