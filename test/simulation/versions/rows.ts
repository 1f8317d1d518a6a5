import type { Row } from '../../doubles/tables/expressions.ts';

/** Stands for what a later version stores with a row or says in a message: no version that runs knows it. */
export const OF_A_LATER_VERSION = 'ofALaterVersion';

/** The row that something of the world stands for, as a stream tells it. */
const images = new WeakMap<object, Row>();

export function isImageOf(row: Row, of: object): void {
  images.set(of, row);
}

/** @throws Error when it stands for none */
export function imageOf(of: object): Row {
  const row = images.get(of);
  if (row === undefined) throw new Error('it stands for no row of a table');
  return row;
}

/** What is made of a row, once for each row: rows are never changed, but replaced. */
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
