import type { DatabaseSync } from 'node:sqlite';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';

export type Key = Record<string, AttributeValue>;

export interface ExpiringTable {
  name: string;
  /** Attribute with the expiry time in epoch seconds. */
  attribute: string;
  keyAttributes: string[];
}

/**
 * DynamoDB marks the stream record of an item that its time to live deleted (`userIdentity`). The engine does
 * not, so a trigger marks the records of keys that the sweeper announced; a later mark could come after the
 * record was read. It exists only while the sweeper deletes, because the engine compiles it with each record
 * that it writes.
 */
const trigger = `
  CREATE TRIGGER IF NOT EXISTS _local_mark_expiry AFTER INSERT ON _stream_records WHEN NEW.event_name = 'REMOVE'
  BEGIN
    UPDATE _stream_records
    SET user_identity = '{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"}'
    WHERE id = NEW.id AND EXISTS (
      SELECT 1 FROM _local_expected_expiry AS expected
      WHERE expected.table_name = NEW.table_name AND NOT EXISTS (
        SELECT 1 FROM json_each(NEW.keys_json) AS actual
        WHERE actual.value IS NOT (
          SELECT value FROM json_each(expected.keys_json) WHERE key = actual.key
        )
      )
    );
  END;`;
const expected =
  'CREATE TABLE IF NOT EXISTS _local_expected_expiry (table_name TEXT NOT NULL, keys_json TEXT NOT NULL)';

/** DynamoDB keeps items whose time to live is more than five years past. */
const FIVE_YEARS = 5 * 365 * 24 * 60 * 60;

const KeySchema = z.array(z.object({ AttributeName: z.string() }));
const Item = z.record(
  z.string(),
  z.custom<AttributeValue>((value) => typeof value === 'object'),
);

/** Rows of a table that a step examines, which takes some 6 ms. */
const ROWS_IN_STEP = 5_000;

/**
 * Finds expired items in the embedded DynamoDB's database file, step by step: a table of many rows takes many
 * sweeps. An index of expiry times would find them at once, but take a quarter of the time of each update.
 */
export class ExpiryLog {
  readonly #database: DatabaseSync;
  readonly #rowsInStep: number;
  /** Number of the last row examined, by table. */
  readonly #positions = new Map<string, number>();

  constructor(database: DatabaseSync, rowsInStep = ROWS_IN_STEP) {
    this.#database = database;
    this.#rowsInStep = rowsInStep;
    database.exec(expected);
    this.forget();
    for (const { name } of this.tables())
      database.exec(`DROP INDEX IF EXISTS ${quoted(`_local_expiry::${name}`, '"')}`);
  }

  tables(): ExpiringTable[] {
    return this.#database
      .prepare('SELECT table_name, ttl_attribute, key_schema FROM _tables WHERE ttl_enabled = 1')
      .all()
      .map((row) => ({
        name: String(row.table_name),
        attribute: String(row.ttl_attribute),
        keyAttributes: KeySchema.parse(JSON.parse(String(row.key_schema))).map(
          ({ AttributeName }) => AttributeName,
        ),
      }));
  }

  /** @returns keys of up to `limit` expired items in the next step, which begins again after the last row */
  expired(table: ExpiringTable, now: Date, limit: number): Key[] {
    const source = quoted(table.name, '"');
    const after = this.#positions.get(table.name) ?? 0;
    const step = this.#database
      .prepare(
        `SELECT MAX(rowid) AS last, COUNT(*) AS rows FROM
         (SELECT rowid FROM ${source} WHERE rowid > ? ORDER BY rowid LIMIT ?)`,
      )
      .get(after, this.#rowsInStep);
    const last = Number(step?.last ?? after);
    const expiry = `CAST(json_extract(item_json, ${quoted(`$."${table.attribute}".N`, "'")}) AS INTEGER)`;
    const seconds = Math.floor(now.getTime() / 1_000);
    const row = this.#database
      .prepare(
        `SELECT rowid, item_json FROM ${source} WHERE rowid > ? AND rowid <= ? AND ${expiry} > ? AND ${expiry} < ?
         ORDER BY rowid LIMIT ?`,
      )
      .all(after, last, seconds - FIVE_YEARS, seconds, limit);
    const isLast = Number(step?.rows) < this.#rowsInStep;
    const examined = row.length === limit ? Number(row.at(-1)?.rowid) : last;
    this.#positions.set(table.name, row.length < limit && isLast ? 0 : examined);
    return row.map(({ item_json }) => pickKey(Item.parse(JSON.parse(String(item_json))), table));
  }

  /** Announces deletions, so that their stream records are marked as time-to-live deletions. */
  expect(table: ExpiringTable, keys: readonly Key[]): void {
    this.#database.exec(trigger);
    const insert = this.#database.prepare('INSERT INTO _local_expected_expiry VALUES (?, ?)');
    for (const key of keys) insert.run(table.name, JSON.stringify(key));
  }

  /** Ends every announcement: later deletions are the caller's own. */
  forget(): void {
    this.#database.exec('DROP TRIGGER IF EXISTS _local_mark_expiry; DELETE FROM _local_expected_expiry');
  }
}

function pickKey(item: Key, table: ExpiringTable): Key {
  return Object.fromEntries(Object.entries(item).filter(([name]) => table.keyAttributes.includes(name)));
}

/** SQLite has no parameters for names and index expressions. */
const quoted = (text: string, quote: '"' | "'") => `${quote}${text.replaceAll(quote, quote + quote)}${quote}`;
