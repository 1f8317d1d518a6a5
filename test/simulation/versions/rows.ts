import type { Row } from '../../doubles/tables/expressions.ts';

/** An attribute or field of a later version, which no running version knows. */
export const OF_A_LATER_VERSION = 'ofALaterVersion';

/** The row of an object of the world, as a stream has it. */
const images = new WeakMap<object, Row>();

export function isImageOf(row: Row, of: object): void {
  images.set(of, row);
}

/** @throws Error when there is no such row */
export function imageOf(of: object): Row {
  const row = images.get(of);
  if (row === undefined) throw new Error('it stands for no row of a table');
  return row;
}

/** The result for each row, computed once: rows are never changed, but replaced. */
export function once<T extends object>(make: (row: Row) => T): (row: Row) => T {
  const made = new WeakMap<Row, T>();
  return (row) => {
    const known = made.get(row);
    if (known !== undefined) return known;
    const one = make(row);
    made.set(row, one);
    isImageOf(row, one);
    return one;
  };
}
