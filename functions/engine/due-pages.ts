import type { UnreadableRow } from '../domain/due.ts';
import type { Log } from '../platform/log-codes.ts';
import { mapConcurrently } from './concurrency.ts';

/** Where a page of a due index ended; only for going on from there. */
export type Position = Record<string, unknown>;

export interface DuePage<E> {
  entries: E[];
  unreadable?: readonly UnreadableRow[];
  next?: Position;
}

/** Logs rows that cannot be read. They block no other row, and make the run fail once the rest is done. */
export const reportUnreadableRow =
  (log: Log, failures: unknown[]) =>
  ({ pk, sk, error }: UnreadableRow): void => {
    log('DUE_ROW_UNREADABLE', { pk, sk, error });
    failures.push(error);
  };

/**
 * All shards of a due index. Another one comes first each minute, so that runs which end early leave out none
 * for good.
 */
function rotateShards(now: Date, shards: number): number[] {
  const first = Math.floor(now.getTime() / 60_000);
  return Array.from({ length: shards }, (_, index) => (first + index) % shards);
}

interface Scan<E> {
  shards: number;
  /** Shards read at once. */
  atOnce: number;
  find(shard: number, after?: Position): Promise<DuePage<E>>;
  /** Gives what handles the pages of one shard. */
  handler(): (entries: E[]) => Promise<void>;
  /** Whether there is time for another page. */
  goOn(): boolean;
  /** Logs that a shard could not be read. */
  unread(shard: number, error: unknown): void;
}

/**
 * Goes through all shards of a due index, page by page. A shard or a row that cannot be read keeps no other
 * waiting.
 * @param failures takes what could not be read
 * @returns whether it came to the end of every shard
 */
export async function scanShards<E>(
  now: Date,
  { shards, atOnce, find, handler, goOn, unread }: Scan<E>,
  { log, failures }: { log: Log; failures: unknown[] },
): Promise<boolean> {
  const tell = reportUnreadableRow(log, failures);
  const ends = await mapConcurrently(rotateShards(now, shards), atOnce, async (shard) => {
    try {
      return await readPages((after) => find(shard, after), handler(), goOn, tell);
    } catch (error) {
      unread(shard, error);
      failures.push(error);
      return true;
    }
  });
  return ends.every(Boolean);
}

/**
 * Goes through one shard of a due index, page by page.
 * @param goOn whether there is time for another page
 * @param tell is called with each row that cannot be read
 * @returns whether it came to the end
 */
export async function readPages<E>(
  find: (after?: Position) => Promise<DuePage<E>>,
  handle: (entries: E[]) => Promise<void>,
  goOn: () => boolean,
  tell: (row: UnreadableRow) => void,
): Promise<boolean> {
  let after: Position | undefined;
  do {
    if (!goOn()) return false;
    const page = await find(after);
    for (const row of page.unreadable ?? []) tell(row);
    await handle(page.entries);
    after = page.next;
  } while (after !== undefined);
  return true;
}
