import type { UnreadableRow } from '../domain/due.ts';
import type { Table } from './table.ts';

type Row = Record<string, unknown>;

/** Parses rows one by one, so that a broken row is reported and does not block the others. */
export function readable<T>(
  rows: readonly Row[],
  parse: (row: Row) => T,
): { entries: T[]; unreadable: UnreadableRow[] } {
  const entries: T[] = [];
  const unreadable: UnreadableRow[] = [];
  for (const row of rows)
    try {
      entries.push(parse(row));
    } catch (error) {
      unreadable.push({ pk: String(row.pk), sk: String(row.sk ?? ''), error });
    }
  return { entries, unreadable };
}

/**
 * Parses rows that are read together. A row that cannot be read is left out and reported to the table.
 * @throws the first row's error when the table reports to nobody
 */
export function readRows<T>(
  { reportUnreadable = fail }: Pick<Table, 'reportUnreadable'>,
  rows: readonly Row[],
  parse: (row: Row) => T,
): T[] {
  const { entries, unreadable } = readable(rows, parse);
  for (const row of unreadable) reportUnreadable(row);
  return entries;
}

/** Reports a row by failing. */
export function fail({ error }: UnreadableRow): never {
  throw error;
}
