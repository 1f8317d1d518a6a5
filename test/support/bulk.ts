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
export function putInBulk(file: string, table: string, rows: Iterable<BulkRow>): void {
  insertItems(file, table, toItems(rows));
}

function* toItems(rows: Iterable<BulkRow>): Iterable<StoredItem> {
  for (const row of rows) {
    const item = marshall(row, { removeUndefinedValues: true });
    yield { pk: row.pk, sk: row.sk, item, bytes: itemBytes(row) };
  }
}
