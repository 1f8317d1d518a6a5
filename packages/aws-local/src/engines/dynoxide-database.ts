import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { REGION, tableOfStream } from '../arns.ts';
import type { RecordReader, RecordStart, StreamRecords } from '../sources/record-reader.ts';
import { SEQUENCE_DIGITS, type StreamRecord } from '../sources/stream-records.ts';

export type Key = Record<string, AttributeValue>;

export interface ExpiringTable {
  name: string;
  /** Attribute with the expiry time in epoch seconds. */
  attribute: string;
  keyAttributes: string[];
}

/** Number of a table's last stream record that all its readers have read; undefined without readers. */
export type ReadUpTo = (table: string) => bigint | undefined;

/** The engine waits up to five seconds for our writes, and we for its. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * The engine keeps all stream records in one table, forever and without an index, so each access gets slower.
 * This expression matches the engine's queries of a record's neighbours.
 */
const NUMBER = 'CAST(sequence_number AS INTEGER)';
const INDEX = `CREATE INDEX IF NOT EXISTS _stream_records_seq ON _stream_records (table_name, ${NUMBER})`;

/** Version 3.2.0 adds this to the numbers that it stores, so that they have as many digits as DynamoDB's. */
const PUBLIC_OFFSET = 10n ** 20n;
/** Largest SQLite integer. */
const LARGEST_NUMBER = 2n ** 63n - 1n;

const TRIM_BATCH = 500;
/** DynamoDB keeps items whose time to live is more than five years past. */
const FIVE_YEARS = 5 * 365 * 24 * 60 * 60;
/** Rows of a table that a search for expired items examines, which takes some 6 ms. */
const ROWS_IN_STEP = 5_000;

const EXPECTED =
  'CREATE TABLE IF NOT EXISTS _local_expected_expiry (table_name TEXT NOT NULL, keys_json TEXT NOT NULL)';
/**
 * DynamoDB marks the stream record of an item that its time to live deleted (`userIdentity`). The engine does
 * not, so a trigger marks the records of keys that the sweeper announced; a later mark could come after the
 * record was read. It exists only while the sweeper deletes, because the engine compiles it with each record
 * that it writes.
 */
const MARK_EXPIRY = `
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

const KeySchema = z.array(z.object({ AttributeName: z.string() }));
const Item = z.record(
  z.string(),
  z.custom<AttributeValue>((value) => typeof value === 'object'),
);

/**
 * Database file of the embedded DynamoDB (dynoxide 1.2.1 or 3.2.0). All that depends on its private tables is
 * here: reading streams without a request and two conversions of every image for each reader, trimming them,
 * and finding expired items.
 */
export class DynoxideDatabase implements StreamRecords {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** Number of the last row examined for expired items, by table. */
  readonly #positions = new Map<string, number>();

  private constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  /** Opens and prepares the file of an engine that runs. */
  static openForUpkeep(file: string): DynoxideDatabase {
    const database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS });
    // No write waits for the disk: what a power failure undoes is done again.
    database.exec(`PRAGMA synchronous = NORMAL; ${INDEX}; ${EXPECTED}`);
    const opened = new DynoxideDatabase(database);
    opened.forgetExpiry();
    return opened;
  }

  /** Opens the file of an engine that another process maintains. */
  static openReadOnly(file: string): DynoxideDatabase {
    return new DynoxideDatabase(new DatabaseSync(file, { readOnly: true, timeout: LOCK_TIMEOUT_MS }));
  }

  close(): void {
    this.#database.close();
  }

  tables(): string[] {
    return this.#statements.tables.all().map(({ name }) => String(name));
  }

  /**
   * Items of a table in the JSON of DynamoDB's protocol.
   * @param texts only items with one of them; texts without characters that JSON escapes
   */
  items(table: string, texts?: readonly string[]): string[] {
    const hasOne =
      texts === undefined ? 'TRUE' : texts.map(() => 'instr(item_json, ?)').join(' OR ') || 'FALSE';
    return this.#database
      .prepare(`SELECT item_json AS item FROM ${quoted(table, '"')} WHERE ${hasOne}`)
      .all(...(texts ?? []))
      .map(({ item }) => String(item));
  }

  /** Changes with each commit of the engine. */
  version(): unknown {
    return this.#statements.version.get()?.data_version;
  }

  /** Number of the newest record of a table's stream; undefined without records. */
  newestRecord(table: string): number | undefined {
    const number = this.#statements.newest.get(table)?.number;
    return typeof number === 'number' ? number : undefined;
  }

  /** A table's stream has one shard, which never closes. */
  async shards(streamArn: string): Promise<{ ShardId: string }[]> {
    return [{ ShardId: `shardId-00000001-${tableOfStream(streamArn)}` }];
  }

  async open({ streamArn, position, startingPosition }: RecordStart): Promise<RecordReader> {
    const table = tableOfStream(streamArn);
    const first = startingPosition === 'LATEST' ? this.newestRecord(table) : undefined;
    let last = position === undefined ? (first ?? 0) : Number(BigInt(position) % PUBLIC_OFFSET);
    const viewType = String(this.#statements.viewType.get(table)?.type);
    return {
      next: async (limit) => {
        const rows = this.#statements.after.all(table, last, limit);
        last = Number(rows.at(-1)?.sequence_number ?? last);
        return { records: rows.map((row) => toRecord(row, streamArn, viewType)), isClosed: false };
      },
    };
  }

  /**
   * Deletes a batch of each table's stream records older than `horizon`; returns how many. Keeps each table's
   * newest record, from which the engine continues to count, and records that a reader has not read: unlike
   * DynamoDB, this machine may have been off for a day.
   */
  trim(horizon: Date, readUpTo: ReadUpTo = () => undefined): number {
    return this.#statements.streamingTables.all().reduce((trimmed, { name }) => {
      const { changes } = this.#statements.trim.run({
        $table: String(name),
        $batch: TRIM_BATCH,
        $horizon: Math.floor(horizon.getTime() / 1_000),
        $readUpTo: (readUpTo(String(name)) ?? LARGEST_NUMBER) % PUBLIC_OFFSET,
      });
      return trimmed + Number(changes);
    }, 0);
  }

  expiringTables(): ExpiringTable[] {
    return this.#statements.expiringTables.all().map((row) => ({
      name: String(row.table_name),
      attribute: String(row.ttl_attribute),
      keyAttributes: KeySchema.parse(JSON.parse(String(row.key_schema))).map(
        ({ AttributeName }) => AttributeName,
      ),
    }));
  }

  /**
   * Finds expired items step by step: an index of expiry times would find them at once, but take a quarter of
   * the time of each update.
   * @returns keys of up to `limit` expired items in the next step, which begins again after the last row
   */
  expired(table: ExpiringTable, now: Date, limit: number, rowsInStep = ROWS_IN_STEP): Key[] {
    const source = quoted(table.name, '"');
    const after = this.#positions.get(table.name) ?? 0;
    const step = this.#database
      .prepare(
        `SELECT MAX(rowid) AS last, COUNT(*) AS rows FROM
         (SELECT rowid FROM ${source} WHERE rowid > ? ORDER BY rowid LIMIT ?)`,
      )
      .get(after, rowsInStep);
    const last = Number(step?.last ?? after);
    const expiry = `CAST(json_extract(item_json, ${quoted(`$."${table.attribute}".N`, "'")}) AS INTEGER)`;
    const seconds = Math.floor(now.getTime() / 1_000);
    const rows = this.#database
      .prepare(
        `SELECT rowid, item_json FROM ${source} WHERE rowid > ? AND rowid <= ? AND ${expiry} > ? AND ${expiry} < ?
         ORDER BY rowid LIMIT ?`,
      )
      .all(after, last, seconds - FIVE_YEARS, seconds, limit);
    const isLast = Number(step?.rows) < rowsInStep;
    const examined = rows.length === limit ? Number(rows.at(-1)?.rowid) : last;
    this.#positions.set(table.name, rows.length < limit && isLast ? 0 : examined);
    return rows.map(({ item_json }) => pickKey(Item.parse(JSON.parse(String(item_json))), table));
  }

  /** Announces deletions, so that their stream records are marked as time-to-live deletions. */
  expectExpiry(table: ExpiringTable, keys: readonly Key[]): void {
    this.#database.exec(MARK_EXPIRY);
    const insert = this.#database.prepare('INSERT INTO _local_expected_expiry VALUES (?, ?)');
    for (const key of keys) insert.run(table.name, JSON.stringify(key));
  }

  /** Ends every announcement: later deletions are the caller's own. */
  forgetExpiry(): void {
    this.#database.exec('DROP TRIGGER IF EXISTS _local_mark_expiry; DELETE FROM _local_expected_expiry');
  }
}

const prepareStatements = (database: DatabaseSync) => ({
  version: database.prepare('PRAGMA data_version'),
  tables: database.prepare('SELECT table_name AS name FROM _tables ORDER BY table_name'),
  streamingTables: database.prepare('SELECT table_name AS name FROM _tables WHERE stream_enabled = 1'),
  expiringTables: database.prepare(
    'SELECT table_name, ttl_attribute, key_schema FROM _tables WHERE ttl_enabled = 1',
  ),
  viewType: database.prepare('SELECT stream_view_type AS type FROM _tables WHERE table_name = ?'),
  newest: database.prepare(`SELECT MAX(${NUMBER}) AS number FROM _stream_records WHERE table_name = ?`),
  after: database.prepare(
    `SELECT * FROM _stream_records WHERE table_name = ? AND ${NUMBER} > ? ORDER BY ${NUMBER} LIMIT ?`,
  ),
  trim: database.prepare(
    `DELETE FROM _stream_records WHERE id IN (
       SELECT id FROM (
         SELECT id, created_at, sequence_number FROM _stream_records WHERE table_name = $table
         ORDER BY ${NUMBER} LIMIT $batch
       )
       WHERE created_at < $horizon AND ${NUMBER} <= $readUpTo AND ${NUMBER} < (
         SELECT MAX(${NUMBER}) FROM _stream_records WHERE table_name = $table
       )
     )`,
  ),
});

type Row = Readonly<Record<string, unknown>>;

function toRecord(row: Row, eventSourceARN: string, StreamViewType: string): StreamRecord {
  const number = String(row.sequence_number);
  // Version 1.2.1 has no event ids of its own.
  const eventId = typeof row.event_id === 'string' ? row.event_id : undefined;
  const isOffset = eventId !== undefined;
  const images = [
    ['Keys', row.keys_json],
    ['NewImage', row.new_image],
    ['OldImage', row.old_image],
  ].flatMap(([name, json]) => (typeof json === 'string' ? [{ name: String(name), json }] : []));
  return {
    eventID: eventId ?? number,
    eventName: String(row.event_name),
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: REGION,
    eventSourceARN,
    dynamodb: {
      ApproximateCreationDateTime: Number(row.created_at),
      SequenceNumber: isOffset
        ? String(PUBLIC_OFFSET + BigInt(number))
        : number.padStart(SEQUENCE_DIGITS, '0'),
      ...Object.fromEntries(images.map(({ name, json }) => [name, JSON.parse(json)])),
      SizeBytes: images.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0),
      StreamViewType,
    },
    ...(typeof row.user_identity === 'string' && { userIdentity: userIdentity(row.user_identity) }),
  };
}

function userIdentity(json: string): StreamRecord['userIdentity'] {
  const { PrincipalId, Type } = JSON.parse(json);
  return { principalId: PrincipalId, type: Type };
}

function pickKey(item: Key, table: ExpiringTable): Key {
  return Object.fromEntries(Object.entries(item).filter(([name]) => table.keyAttributes.includes(name)));
}

/** SQLite has no parameters for names and index expressions. */
const quoted = (text: string, quote: '"' | "'") => `${quote}${text.replaceAll(quote, quote + quote)}${quote}`;

/** An item of a table with a string for each key, and its size in bytes as DynamoDB counts it. */
export interface StoredItem {
  pk: string;
  sk: string;
  item: Record<string, AttributeValue>;
  bytes: number;
}

/**
 * Writes items that are in no index, because hundreds of thousands over the engine's API would take minutes.
 * @param file of the engine's database
 */
export function insertItems(file: string, table: string, items: Iterable<StoredItem>): void {
  const database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS });
  try {
    const insert = database.prepare(
      `INSERT INTO "${table}" (pk, sk, item_json, item_size, hash_prefix) VALUES (?, ?, ?, ?, ?)`,
    );
    database.exec('BEGIN');
    for (const { pk, sk, item, bytes } of items)
      insert.run(
        `S:${pk}`,
        `S:${sk}`,
        JSON.stringify(item),
        bytes,
        createHash('md5').update(pk).digest('hex').slice(0, 6),
      );
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}
