import { isDeepStrictEqual } from 'node:util';
import type { GlobalSecondaryIndex, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import type { Row } from './expressions.ts';
import { writeUnits } from './sizes.ts';

/** When a version of a row is in an index. */
interface Presence {
  sinceMs: number;
  goneMs: number;
}

/** Names of the attributes of a key, the partition key's first. */
export const namesIn = (schema: readonly KeySchemaElement[] = []): string[] =>
  [...schema]
    .sort((one) => (one.KeyType === 'HASH' ? -1 : 1))
    .map(({ AttributeName }) => String(AttributeName));

/** A part of a row. */
export function picked(row: Row, names: readonly string[]): Row {
  const part: Row = {};
  for (const name of names) if (row[name] !== undefined) part[name] = row[name];
  return part;
}

/**
 * A secondary index of a table in memory. It contains the projected attributes of rows that have its keys,
 * with a lag after their writes.
 */
export class MemoryIndex {
  readonly keys: readonly string[];
  readonly #entries = new Map<string, Map<Row, Presence>>();
  readonly #projects: (row: Row) => Row;
  readonly #nowMs: () => number;
  readonly #lagMs: () => number;

  constructor(
    { KeySchema, Projection }: GlobalSecondaryIndex,
    tableKeys: readonly string[],
    nowMs: () => number,
    lagMs: () => number,
  ) {
    this.keys = namesIn(KeySchema);
    const names = [...tableKeys, ...this.keys, ...(Projection?.NonKeyAttributes ?? [])];
    this.#projects = Projection?.ProjectionType === 'ALL' ? (row) => row : (row) => picked(row, names);
    this.#nowMs = nowMs;
    this.#lagMs = lagMs;
  }

  /** Rows under a partition key, in no particular order. */
  shown(pk: string): Row[] {
    const asOf = this.#nowMs() - this.#lagMs();
    const rows: Row[] = [];
    for (const [row, { sinceMs, goneMs }] of this.#entries.get(pk) ?? [])
      if (sinceMs <= asOf && goneMs > asOf) rows.push(this.#projects(row));
    return rows;
  }

  /** Units that a write consumes here: one for an entry that is added, changed or removed. */
  unitsOf(before: Row | undefined, after: Row | undefined): number {
    const [from, to] = [before, after].map((row) =>
      row && this.#has(row) ? this.#projects(row) : undefined,
    );
    if (from === undefined || to === undefined) return from === to ? 0 : writeUnits(from, to);
    const isMoved = this.keys.some((name) => from[name] !== to[name]);
    if (isMoved) return writeUnits(from) + writeUnits(to);
    return isDeepStrictEqual(from, to) ? 0 : writeUnits(from, to);
  }

  /** A row was overwritten, added or deleted. */
  replace(before: Row | undefined, after: Row | undefined): void {
    const nowMs = this.#nowMs();
    if (before !== undefined && this.#has(before)) {
      const entries = this.#under(before);
      const presence = entries.get(before);
      if (presence !== undefined) presence.goneMs = nowMs;
      // Versions that no read can return any more only take time.
      const asOf = nowMs - this.#lagMs();
      for (const [row, { goneMs }] of entries) if (goneMs <= asOf) entries.delete(row);
    }
    if (after !== undefined && this.#has(after))
      this.#under(after).set(after, { sinceMs: nowMs, goneMs: Number.POSITIVE_INFINITY });
  }

  #has(row: Row): boolean {
    return this.keys.every((name) => row[name] !== undefined);
  }

  #under(row: Row): Map<Row, Presence> {
    const pk = String(row[this.keys[0] ?? '']);
    const cached = this.#entries.get(pk);
    if (cached !== undefined) return cached;
    const entries = new Map<Row, Presence>();
    this.#entries.set(pk, entries);
    return entries;
  }
}
