import type { DatabaseSync } from 'node:sqlite';

/**
 * The engine keeps all stream records in one table, forever and without an index, so each access gets slower.
 * This expression matches the engine's queries of a record's neighbours. Earlier versions had two more
 * indexes, which cost each write more than they saved the rare `DescribeStream`.
 */
const indexes = `
  CREATE INDEX IF NOT EXISTS _stream_records_seq
    ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
  DROP INDEX IF EXISTS _stream_records_shard_seq;
  DROP INDEX IF EXISTS _stream_records_shard_seqtext;`;

const TRIM_BATCH = 500;
/** Largest SQLite integer. */
const LARGEST_NUMBER = 2n ** 63n - 1n;

export type ReadUpTo = (table: string) => bigint | undefined;

/** Trims the embedded DynamoDB's stream records in its database file. */
export class StreamLog {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(indexes);
  }

  /**
   * Deletes a batch of each table's records older than `horizon`; returns how many. Keeps each table's newest
   * record, from which the engine continues to count, and records that a reader has not read: unlike
   * DynamoDB, this machine may have been off for a day.
   * @param readUpTo number of a table's last record that all readers of its stream have read; undefined
   *   without readers
   */
  trim(horizon: Date, readUpTo: ReadUpTo = () => undefined): number {
    const tables = this.#database
      .prepare('SELECT table_name AS name FROM _tables WHERE stream_enabled = 1')
      .all();
    return tables.reduce(
      (trimmed, { name }) => trimmed + this.#trimTable(String(name), horizon, readUpTo(String(name))),
      0,
    );
  }

  #trimTable(table: string, horizon: Date, readUpTo = LARGEST_NUMBER): number {
    const { changes } = this.#database
      .prepare(
        `DELETE FROM _stream_records WHERE id IN (
           SELECT id FROM (
             SELECT id, created_at, sequence_number FROM _stream_records WHERE table_name = $table
             ORDER BY CAST(sequence_number AS INTEGER) LIMIT $batch
           )
           WHERE created_at < $horizon AND CAST(sequence_number AS INTEGER) <= $readUpTo AND CAST(sequence_number AS INTEGER) < (
             SELECT MAX(CAST(sequence_number AS INTEGER)) FROM _stream_records WHERE table_name = $table
           )
         )`,
      )
      .run({
        $table: table,
        $batch: TRIM_BATCH,
        $horizon: Math.floor(horizon.getTime() / 1_000),
        $readUpTo: readUpTo,
      });
    return Number(changes);
  }
}
