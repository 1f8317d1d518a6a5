import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { PartitionReader } from './pages.ts';
import { readRows } from './readable.ts';
import type { Table } from './table.ts';

/**
 * Reads a partition whose sort key is the items' identifier, newest first. Consistent, so that a caller who just
 * created something finds it.
 * @param parse gives the entity that a row holds; throws when the row is not one
 */
export function partition<T>(table: Table, pk: string, parse: (row: unknown) => T): PartitionReader<T> {
  return async (before, limit) => {
    let boundary = before;
    let units = 0;
    // A query ends at 1 MB of rows, and may end with none.
    for (;;) {
      const {
        Items = [],
        LastEvaluatedKey,
        ConsumedCapacity,
      } = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          ConsistentRead: true,
          ReturnConsumedCapacity: 'TOTAL',
          ScanIndexForward: false,
          Limit: limit,
          KeyConditionExpression: boundary === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :before',
          ExpressionAttributeValues: {
            ':pk': pk,
            ...(boundary === undefined ? {} : { ':before': boundary }),
          },
        }),
      );
      units += ConsumedCapacity?.CapacityUnits ?? 0;
      boundary = LastEvaluatedKey?.sk;
      const ended = boundary === undefined;
      if (ended || Items.length > 0) return { items: readRows(table, Items, parse), ended, units };
    }
  };
}
