/** What a request of AWS takes at most. */
export interface RequestLimits {
  entries: number;
  bytes: number;
}

/**
 * Bytes of one request to EventBridge or SQS: below the 256 KB that AWS's older pages say, whatever the newer
 * ones allow, with room for what is added on the way.
 */
export const REQUEST_BYTES = 200 * 1024;

/**
 * Cuts items into as few requests as their order allows. An item that is over the limit alone is in a request
 * of its own.
 * @param sizeOf bytes of an item, as the service counts them
 */
export function splitIntoChunks<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  { entries, bytes }: RequestLimits,
): T[][] {
  const chunks: T[][] = [];
  let size = 0;
  for (const item of items) {
    const itemSize = sizeOf(item);
    const last = chunks.at(-1);
    if (last !== undefined && last.length < entries && size + itemSize <= bytes) {
      last.push(item);
      size += itemSize;
    } else {
      chunks.push([item]);
      size = itemSize;
    }
  }
  return chunks;
}
