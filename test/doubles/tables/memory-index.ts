import type { GlobalSecondaryIndex, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import type { Row } from './expressions.ts';

/** A version of a row in an index, and when it is there. */
interface Entry {
  row: Row;
  sinceMs: number;
  goneMs: number;
}

/** Names of the attributes of a key, the partition key's first. */
export const namesIn = (schema: readonly KeySchemaElement[] = []): string[] =>
  [...schema]
    .sort((one) => (one.KeyType === 'HASH' ? -1 : 1))
    .map(({ AttributeName }) => String(AttributeName));

/** A part of a row. */
export const picked = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]])));

/**
 * A secondary index of a table in memory. It contains the projected attributes of rows that have its keys,
 * with a lag after their writes.
 */
export class MemoryIndex {
  readonly keys: readonly string[];
  readonly #entries = new Map<string, Entry[]>();
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
    return (this.#entries.get(pk) ?? [])
      .filter(({ sinceMs, goneMs }) => sinceMs <= asOf && goneMs > asOf)
      .map(({ row }) => this.#projects(row));
  }

  /** A row was overwritten, added or deleted. */
  replace(before: Row | undefined, after: Row | undefined): void {
    const nowMs = this.#nowMs();
    if (before !== undefined && this.#has(before)) {
      const entries = this.#under(before);
      const entry = entries.find(({ row }) => row === before);
      if (entry !== undefined) entry.goneMs = nowMs;
      // Versions that no read can return any more only take time.
      this.#entries.set(
        this.#pkOf(before),
        entries.filter(({ goneMs }) => goneMs > nowMs - this.#lagMs()),
      );
    }
    if (after === undefined || !this.#has(after)) return;
    const entries = this.#under(after);
    entries.push({ row: after, sinceMs: nowMs, goneMs: Number.POSITIVE_INFINITY });
    this.#entries.set(this.#pkOf(after), entries);
  }

  #has(row: Row): boolean {
    return this.keys.every((name) => row[name] !== undefined);
  }

  #pkOf(row: Row): string {
    return String(row[this.keys[0] ?? '']);
  }

  #under(row: Row): Entry[] {
    return this.#entries.get(this.#pkOf(row)) ?? [];
  }
}
