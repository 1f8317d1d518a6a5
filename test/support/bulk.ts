import { marshall } from '@aws-sdk/util-dynamodb';
import { insertItems, type StoredItem } from 'aws-local/engines/dynoxide-database.ts';
import { itemBytes } from './item-size.ts';

/** An item with a sort key. */
export interface BulkRow extends Record<string, unknown> {
  pk: string;
  sk: string;
}

/**
 * Writes rows that are in no index to the embedded engine's database.
 * @param file of the engine's database
 */
export const putInBulk = (file: string, table: string, rows: Iterable<BulkRow>): void =>
  insertItems(file, table, Iterator.from(rows).map(toItem));

const toItem = (row: BulkRow): StoredItem => ({
  pk: row.pk,
  sk: row.sk,
  item: marshall(row, { removeUndefinedValues: true }),
  bytes: itemBytes(row),
});
