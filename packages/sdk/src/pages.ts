/** A page of a list. */
export interface Page<Item> {
  data: readonly Item[];
  /** Null on the last page. A page may be short, or empty, and not be the last. */
  nextCursor: string | null;
}

/**
 * A list of the API, read page by page as far as it is asked for.
 * @example for await (const conversation of client.conversations.list()) …
 */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
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
  page(cursor?: string): Promise<Page<Item>> {
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
