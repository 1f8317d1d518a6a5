import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { PartitionReader } from './pages.ts';
import type { Table } from './table.ts';

/**
 * Reads a partition whose sort key is the items' identifier, newest first. Consistent, so that a caller who just
 * created something finds it.
 * @param parse gives the entity that a row holds; throws when the row is not one
 */
export function partition<T>(table: Table, pk: string, parse: (row: unknown) => T): PartitionReader<T> {
  return async (before, limit) => {
    const items: T[] = [];
    let boundary = before;
    // A query also ends at 1 MB of rows, so one answer may hold fewer than were asked for.
    for (;;) {
      const { Items = [], LastEvaluatedKey } = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          ConsistentRead: true,
          ScanIndexForward: false,
          Limit: limit - items.length,
          KeyConditionExpression: boundary === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :before',
          ExpressionAttributeValues: {
            ':pk': pk,
            ...(boundary === undefined ? {} : { ':before': boundary }),
          },
        }),
      );
      items.push(...Items.map(parse));
      boundary = LastEvaluatedKey?.sk;
      if (boundary === undefined || items.length >= limit) return items;
    }
  };
}
