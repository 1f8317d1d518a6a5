/**
 * Bytes of an item by DynamoDB's rules (Developer Guide, "DynamoDB item sizes and formats"): names and texts
 * in UTF-8, a number its digits by two and one, a list or a map three and one for each element.
 */
export const itemBytes = (item: Readonly<Record<string, unknown>>): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).replace(/\D/g, '').length / 2) + 1;
  if (value instanceof Uint8Array) return value.byteLength;
  if (value === null || typeof value !== 'object') return 1;
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + 1 + valueBytes(each), 3);
  const entries = Object.entries(value);
  return 3 + entries.length + itemBytes(Object.fromEntries(entries));
}
