import type { UnreadableRow } from '../domain/due.ts';
import type { Log } from '../platform/log-codes.ts';

/** Where a page of a due index ended; only for going on from there. */
export type Position = Record<string, unknown>;

export interface DuePage<E> {
  entries: E[];
  unreadable?: readonly UnreadableRow[];
  next?: Position;
}

/** Logs rows that cannot be read. They block no other row, and make the run fail once the rest is done. */
export const reporting =
  (log: Log, failures: unknown[]) =>
  ({ pk, sk, error }: UnreadableRow): void => {
    log('DUE_ROW_UNREADABLE', { pk, sk, error });
    failures.push(error);
  };

/** All shards of a due index. Another one comes first each minute, so that runs which end early leave out none for good. */
export function shardsFrom(now: Date, shards: number): number[] {
  const first = Math.floor(now.getTime() / 60_000);
  return Array.from({ length: shards }, (_, index) => (first + index) % shards);
}

/**
 * Deals with one shard of a due index, page by page.
 * @param goOn whether there is time for another page
 * @param tell is called with each row that cannot be read
 * @returns whether it came to the end
 */
export async function throughPages<E>(
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
