export interface RequestLimits {
  entries: number;
  bytes: number;
}

/**
 * Maximum bytes of one request to EventBridge or SQS: below the lowest documented limit of 256 KB, with room
 * for added fields.
 */
export const REQUEST_BYTES = 200 * 1024;

/**
 * Splits items, in order, into as few requests as possible. An item above the limit gets a request of its
 * own.
 * @param getSize bytes of an item as the service counts them
 */
export function splitIntoChunks<T>(
  items: readonly T[],
  getSize: (item: T) => number,
  { entries, bytes }: RequestLimits,
): T[][] {
  const chunks: T[][] = [];
  let size = 0;
  for (const item of items) {
    const itemSize = getSize(item);
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
