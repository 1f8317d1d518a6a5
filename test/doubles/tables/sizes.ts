/** A row, which sizes need no more of. */
type Row = Readonly<Record<string, unknown>>;

/*
 * Sizes as DynamoDB computes them (Developer Guide, "DynamoDB item sizes and formats"), and the units of
 * reads and writes.
 */

/** Bytes of a value without its name. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(significantDigits(value) / 2) + (value < 0 ? 2 : 1);
  if (value instanceof Uint8Array) return value.byteLength;
  if (value instanceof Set) return sum([...value], sizeOf);
  if (Array.isArray(value)) return 3 + sum(value, (one) => sizeOf(one) + 1);
  if (typeof value === 'object' && value !== null)
    return 3 + sum(Object.entries(value), ([name, one]) => Buffer.byteLength(name) + sizeOf(one) + 1);
  return 1;
}

const significantDigits = (value: number): number =>
  String(Math.abs(value))
    .replace(/e.*|\./g, '')
    .replace(/^0+|0+$/g, '').length;

const sum = <T>(values: readonly T[], size: (value: T) => number): number =>
  values.reduce((bytes, value) => bytes + size(value), 0);

/** Rows are never changed, so each is measured once. */
const measured = new WeakMap<Row, number>();

/** Bytes of a row with the names of its attributes. */
export function sizeOfRow(row: Row): number {
  const cached = measured.get(row);
  if (cached !== undefined) return cached;
  const size = sum(Object.entries(row), ([name, value]) => Buffer.byteLength(name) + sizeOf(value));
  measured.set(row, size);
  return size;
}

export const readUnits = (bytes: number, isConsistent: boolean | undefined): number =>
  Math.max(1, Math.ceil(bytes / 4096)) * (isConsistent === true ? 1 : 0.5);

export const writeUnits = (...rows: readonly (Row | undefined)[]): number =>
  Math.max(1, ...rows.map((row) => (row === undefined ? 0 : Math.ceil(sizeOfRow(row) / 1024))));
