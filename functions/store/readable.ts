type Row = Record<string, unknown>;

/** A row that is not what its entity's schema takes, and why. */
export interface UnreadableRow {
  pk: string;
  sk: string;
  error: unknown;
}

/** Parses rows of many tenants one by one: a broken one is told of, and keeps nobody from the others. */
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
