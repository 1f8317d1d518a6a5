import { ResponseError } from './errors.ts';
import type { CallOptions } from './operations.ts';
import type { Result } from './result.ts';
import { wait } from './wait.ts';

/** A page of a list. */
export interface Page<Item> {
  data: readonly Item[];
  /** Null on the last page. A page may be short, or empty, and not be the last. */
  nextCursor: string | null;
  /** Of lists that can be followed: continues with later items; null when there can be none. */
  followCursor?: string | null;
}

/** Items of a list that is followed. */
export interface Batch<Item> {
  data: readonly Item[];
  /** Where to continue after a restart, as the `cursor` of `follow`. */
  followCursor: string;
}

/** How a list is followed. */
export interface FollowOptions extends CallOptions {
  /** Of the last batch that was processed. */
  cursor?: string;
  /** Milliseconds between reads at the end of the list: 2,000 without it. */
  pollMs?: number;
}

/**
 * A list of the API, read page by page as far as it is asked for.
 * @example for await (const conversation of client.conversations.list()) …
 */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Result<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Result<Page<Item>>) {
    this.#read = read;
  }

  /** All items, from the first page on. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }

  /**
   * Pages, whose cursors can be kept.
   * @param cursor `nextCursor` of the page before the first one that is read
   */
  async *pages(cursor?: string): AsyncGenerator<Page<Item>, void, undefined> {
    for (let next: string | null | undefined = cursor; next !== null; ) {
      const page: Page<Item> = await this.#read(next);
      yield page;
      next = page.nextCursor;
    }
  }

  /** One page: the first, or the one after a cursor. */
  page(cursor?: string): Result<Page<Item>> {
    return this.#read(cursor);
  }

  /** The first items, in an array. @param limit how many at most */
  async take(limit: number): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}

/** Reads on without an end: batches of a list that can be followed, as items are added. */
export async function* follow<Item>(
  list: Pages<Item>,
  { cursor, pollMs = 2_000, signal }: FollowOptions,
): AsyncGenerator<Batch<Item>, void, undefined> {
  for (let next = cursor; ; ) {
    const { data, nextCursor, followCursor } = await list.page(next);
    if (typeof followCursor !== 'string')
      throw new ResponseError('The page has no followCursor.', { status: 200 });
    if (data.length > 0) yield { data, followCursor };
    next = followCursor;
    if (nextCursor === null) await wait(pollMs, signal);
  }
}
