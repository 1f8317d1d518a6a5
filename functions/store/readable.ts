import type { UnreadableRow } from '../domain/due.ts';

type Row = Record<string, unknown>;

/** Parses rows of many tenants one by one, so that a broken row is reported and does not block the others. */
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
      unreadable.push({ pk: String(row.pk), sk: String(row.sk), error });
    }
  return { entries, unreadable };
}
