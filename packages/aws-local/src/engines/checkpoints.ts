import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ensureStateDirectory } from './engine.ts';

/** How far each event source mapping has read each shard of its stream. */
export interface Checkpoints {
  /** The sequence number that was read last, or undefined before the first. */
  get(source: string, shard: string): string | undefined;
  set(source: string, shard: string, sequenceNumber: string): void;
  /** All that is known of a source, by the shard. */
  of(source: string): ReadonlyMap<string, string>;
  close(): void;
}

/**
 * Opens the checkpoints in `<directory>/checkpoints.sqlite`, a file independent of the DynamoDB engine.
 */
export function openCheckpoints(directory: string): Checkpoints {
  ensureStateDirectory(directory);
  const database = new DatabaseSync(join(directory, 'checkpoints.sqlite'), { timeout: 5_000 });
  // Nothing waits for the disk: a killed process leaves its pages with the operating system. After a power
  // failure a checkpoint may be an older one, and the stream is read again from there.
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS checkpoints (
      source TEXT NOT NULL, shard TEXT NOT NULL, sequence_number TEXT NOT NULL, PRIMARY KEY (source, shard)
    ) WITHOUT ROWID`);
  const select = database.prepare('SELECT sequence_number FROM checkpoints WHERE source = ? AND shard = ?');
  const selectAll = database.prepare('SELECT shard, sequence_number FROM checkpoints WHERE source = ?');
  const upsert = database.prepare('INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)');
  return {
    get: (source, shard) => select.get(source, shard)?.sequence_number?.toString(),
    of: (source) =>
      new Map(selectAll.all(source).map((row) => [String(row.shard), String(row.sequence_number)])),
    set: (source, shard, sequenceNumber) => void upsert.run(source, shard, sequenceNumber),
    close: () => database.close(),
  };
}
