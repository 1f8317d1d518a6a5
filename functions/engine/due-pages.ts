import type { UnreadableRow } from '../domain/due.ts';
import type { Log } from '../platform/log-codes.ts';
import { mapConcurrently } from './concurrency.ts';

/** End of a page, to continue from. */
export type Position = Record<string, unknown>;

export interface DuePage<E> {
  entries: E[];
  unreadable?: readonly UnreadableRow[];
  next?: Position;
}

/** Logs unreadable rows. They block no other row, and the run fails at its end. */
export const reportUnreadableRow =
  (log: Log, failures: unknown[]) =>
  ({ pk, sk, error }: UnreadableRow): void => {
    log('DUE_ROW_UNREADABLE', { pk, sk, error });
    failures.push(error);
  };

/** Rotates the shards each minute, so that runs that end early leave none out for good. */
function rotateShards(now: Date, shards: number): number[] {
  const first = Math.floor(now.getTime() / 60_000);
  return Array.from({ length: shards }, (_, index) => (first + index) % shards);
}

interface Scan<E> {
  shards: number;
  atOnce: number;
  find(shard: number, after?: Position): Promise<DuePage<E>>;
  /** Creates the handler of one shard's pages. */
  handler(): (entries: E[]) => Promise<void>;
  /** Whether there is time for another page. */
  hasTime(): boolean;
  /** Logs that a shard could not be read. */
  logShardError(shard: number, error: unknown): void;
}

/**
 * Reads all shards of a due index, page by page. An unreadable shard or row does not block others.
 * @param failures receives the errors
 * @returns whether every shard was read to its end
 */
export async function scanShards<E>(
  now: Date,
  { shards, atOnce, find, handler, hasTime, logShardError }: Scan<E>,
  { log, failures }: { log: Log; failures: unknown[] },
): Promise<boolean> {
  const reportRow = reportUnreadableRow(log, failures);
  const ends = await mapConcurrently(rotateShards(now, shards), atOnce, async (shard) => {
    try {
      return await readPages((after) => find(shard, after), handler(), hasTime, reportRow);
    } catch (error) {
      logShardError(shard, error);
      failures.push(error);
      return true;
    }
  });
  return ends.every(Boolean);
}

/**
 * Reads one shard of a due index, page by page.
 * @param hasTime whether there is time for another page
 * @param reportRow called for each unreadable row
 * @returns whether it was read to its end
 */
async function readPages<E>(
  find: (after?: Position) => Promise<DuePage<E>>,
  handle: (entries: E[]) => Promise<void>,
  hasTime: () => boolean,
  reportRow: (row: UnreadableRow) => void,
): Promise<boolean> {
  let after: Position | undefined;
  do {
    if (!hasTime()) return false;
    const page = await find(after);
    for (const row of page.unreadable ?? []) reportRow(row);
    await handle(page.entries);
    after = page.next;
  } while (after !== undefined);
  return true;
}
