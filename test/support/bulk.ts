import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { marshall } from '@aws-sdk/util-dynamodb';
import { itemBytes } from './item-size.ts';

/** An item with a sort key. */
export interface BulkRow extends Record<string, unknown> {
  pk: string;
  sk: string;
}

/**
 * Writes items that are in no index directly to the embedded engine's database, in its form, because
 * hundreds of thousands over its API would take minutes.
 * @param file of the engine's database
 */
export function putInBulk(file: string, table: string, rows: Iterable<BulkRow>): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    const put = database.prepare(
      `INSERT INTO "${table}" (pk, sk, item_json, item_size, hash_prefix) VALUES (?, ?, ?, ?, ?)`,
    );
    database.exec('BEGIN');
    for (const row of rows)
      put.run(
        `S:${row.pk}`,
        `S:${row.sk}`,
        JSON.stringify(marshall(row, { removeUndefinedValues: true })),
        itemBytes(row),
        createHash('md5').update(row.pk).digest('hex').slice(0, 6),
      );
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}
