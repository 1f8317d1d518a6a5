/** Splits items by both limits; an item above the byte limit is a chunk of its own. */
export function chunksBySize<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  limits: { count: number; bytes: number },
): Item[][] {
  const chunks: Item[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    const last = chunks.at(-1);
    if (last && last.length < limits.count && bytes + size <= limits.bytes) {
      last.push(item);
      bytes += size;
    } else {
      chunks.push([item]);
      bytes = size;
    }
  }
  return chunks;
}
