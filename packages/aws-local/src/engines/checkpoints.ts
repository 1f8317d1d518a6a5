import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ensureStateDirectory } from './engine.ts';

/** Progress of each event source mapping in each shard of its stream. */
export interface Checkpoints {
  /** Sequence number of the last record read; undefined before the first. */
  get(source: string, shard: string): string | undefined;
  set(source: string, shard: string, sequenceNumber: string): void;
  /** Sequence numbers by shard. */
  of(source: string): ReadonlyMap<string, string>;
  close(): void;
}

/** Opens `<directory>/checkpoints.sqlite`, which does not depend on the DynamoDB engine. */
export function openCheckpoints(directory: string): Checkpoints {
  ensureStateDirectory(directory);
  const database = new DatabaseSync(join(directory, 'checkpoints.sqlite'), { timeout: 5_000 });
  // No write waits for the disk: the operating system keeps a killed process's pages. After a power failure a
  // checkpoint may be older, and the stream is read again from there.
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
