import { createHash } from 'node:crypto';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { marshall } from '@aws-sdk/util-dynamodb';
import { DUE_INDEX } from '../../../functions/tenancy/keys.ts';
import { itemBytes } from '../requests/items.ts';

/** An item with a sort key. */
export interface BulkRow extends Record<string, unknown> {
  pk: string;
  sk: string;
}

/** Items between two commits. */
const COMMIT_EVERY = 10_000;
/** Items between two reports of progress. */
const REPORT_EVERY = 100_000;
/** The attributes of a delivery in the due index (test/table-definitions.ts). */
const PROJECTED = ['pk', 'sk', 'dueIn', 'dueKey', 'orgId', 'generation', 'webhookId', 'eventId'];

/**
 * Writes items directly to the embedded engine's database, in its form, because a million over its API would
 * take longer than the measurement. Callers must check that the engine finds them.
 * @param file of the engine's database
 */
export function putInBulk(
  file: string,
  table: string,
  rows: Iterable<BulkRow>,
  progress: (done: number) => void,
): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    const put = database.prepare(
      `INSERT INTO "${table}" (pk, sk, item_json, item_size, hash_prefix) VALUES (?, ?, ?, ?, ?)`,
    );
    // Only deliveries have it.
    let index: StatementSync | undefined;
    let done = 0;
    database.exec('BEGIN');
    for (const row of rows) {
      const keys = [textKey(row.pk), textKey(row.sk)] as const;
      put.run(
        ...keys,
        jsonOf(row),
        itemBytes(row),
        createHash('md5').update(row.pk).digest('hex').slice(0, 6),
      );
      if (typeof row.dueIn === 'string' && typeof row.dueKey === 'string') {
        index ??= database.prepare(
          `INSERT INTO "${table}::gsi::${DUE_INDEX}" (gsi_pk, gsi_sk, table_pk, table_sk, item_json) VALUES (?, ?, ?, ?, ?)`,
        );
        index.run(textKey(row.dueIn), textKey(row.dueKey), ...keys, jsonOf(projected(row)));
      }
      done += 1;
      if (done % COMMIT_EVERY === 0) database.exec('COMMIT; BEGIN');
      if (done % REPORT_EVERY === 0) progress(done);
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

const textKey = (value: string): string => `S:${value}`;

const jsonOf = (item: Record<string, unknown>): string =>
  JSON.stringify(marshall(item, { removeUndefinedValues: true }));

const projected = (row: BulkRow): Record<string, unknown> =>
  Object.fromEntries(PROJECTED.map((name) => [name, row[name]]));
