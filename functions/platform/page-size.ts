/**
 * Bytes of JSON after which a page ends. A Lambda response has 6 MB at most (Lambda quotas), in which the
 * body is a string whose quotation marks are escaped once more.
 */
const PAGE_BYTES = 2_000_000;
/** What an answer says of an item beyond its row: fields that are null. */
const NULLS_BYTES = 1_000;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/**
 * The first items that a page has room for, one at least.
 * @param shown what an answer says of an item
 */
export function fitting<T>(items: readonly T[], shown: (item: T) => unknown): readonly T[] {
  // Almost every page: what is shown of rows is a part of them.
  if (bytesOf(items) + items.length * NULLS_BYTES <= PAGE_BYTES) return items;
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += bytesOf(shown(item)) + 1;
    return bytes > PAGE_BYTES;
  });
  return end < 0 ? items : items.slice(0, Math.max(1, end));
}
