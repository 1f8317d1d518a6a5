import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PartitionScan, readMatching } from '../../../functions/store/pages.ts';

interface Item {
  id: string;
  matches: boolean;
}

const anItem = (number: number, matches: boolean): Item => ({
  id: `dlv_${String(number).padStart(8, '0')}`,
  matches,
});

/**
 * A partition as DynamoDB scans it: it counts rows that do not match, ends an answer before the limit, and
 * may return a boundary although nothing follows.
 * @param cut rows after which an answer ends by its size
 * @param unitsOfRow read units
 */
const aPartition =
  (
    rows: readonly Item[],
    cut: number,
    onExamined: (rows: number) => void = () => undefined,
    unitsOfRow = 1,
  ): PartitionScan<Item> =>
  async (before, most) => {
    const left = rows
      .filter(({ id }) => before === undefined || id < before)
      .sort((one, other) => (one.id < other.id ? 1 : -1));
    const seen = left.slice(0, Math.min(most, cut));
    onExamined(seen.length);
    const isCut = seen.length === Math.min(most, cut) && seen.length > 0;
    return {
      items: seen.filter(({ matches }) => matches),
      examined: seen.length,
      units: seen.length * unitsOfRow,
      ...(isCut && { boundary: seen.at(-1)?.id }),
    };
  };

const scenarios = fc.record({
  rows: fc.uniqueArray(
    fc.record({ number: fc.nat({ max: 10_000 }), partition: fc.nat({ max: 8 }), matches: fc.boolean() }),
    { selector: ({ number }) => number, maxLength: 150 },
  ),
  rarely: fc.integer({ min: 1, max: 20 }),
  partitions: fc.integer({ min: 1, max: 9 }),
  limit: fc.integer({ min: 1, max: 25 }),
  bound: fc.integer({ min: 1, max: 40 }),
  cut: fc.integer({ min: 1, max: 30 }),
  /** The partitions of items that are written between pages. */
  meanwhile: fc.array(fc.nat(), { maxLength: 30 }),
});

type Scenario = typeof scenarios extends fc.Arbitrary<infer S> ? S : never;

/** The rows in their partitions. Only every `rarely`th of the rows that could match does. */
function spread({ rows, rarely, partitions }: Pick<Scenario, 'rows' | 'rarely' | 'partitions'>) {
  return Array.from({ length: partitions }, (_, index) =>
    rows
      .filter(({ partition }) => partition % partitions === index)
      .map(({ number, matches }) => anItem(number, matches && number % rarely === 0)),
  );
}

const listNewest = (items: readonly Item[]): string[] =>
  items
    .filter(({ matches }) => matches)
    .map(({ id }) => id)
    .sort()
    .reverse();

/** Reads all pages; `between` runs after each. */
async function pageThrough(
  partitions: readonly PartitionScan<Item>[],
  limit: number,
  bound: number,
  between: (page: number) => void = () => undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { items, next } = await readMatching(partitions, { limit, after }, 'newest first', bound);
    if (next !== undefined && after !== undefined) expect(next < after).toBe(true);
    pages.push(items.map(({ id }) => id));
    between(pages.length);
    after = next;
  } while (after !== undefined);
  return pages;
}

describe('filtered listing', () => {
  it('returns the matching items once, newest first, with writes between pages', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ limit, bound, cut, meanwhile, ...placed }) => {
        const rows = spread(placed);
        const expected = listNewest(rows.flat());
        let newest = 1_000_000;
        const pages = await pageThrough(
          rows.map((its) => aPartition(its, cut)),
          limit,
          bound,
          (page) => {
            for (const place of meanwhile.slice((page - 1) * 3, page * 3))
              rows[place % rows.length]?.push(anItem(newest++, true));
          },
        );
        // Items that are written while the first page is read may be on it; they are on no later page.
        expect(pages.flat()).toEqual(expected);
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 1000 },
    );
  });

  it('consumes at most the bound of a partition for a page, even when little matches', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ limit, bound, cut, ...placed }) => {
        const examined = new Map<number, number>();
        const partitions = spread(placed).map((its, index) =>
          aPartition(its, cut, (rows) => examined.set(index, (examined.get(index) ?? 0) + rows)),
        );
        await pageThrough(partitions, limit, bound, () => {
          for (const rows of examined.values()) expect(rows).toBeLessThanOrEqual(bound);
          examined.clear();
        });
      }),
      { numRuns: 500 },
    );
  });

  it('examines about a page when everything matches', async () => {
    let examined = 0;
    const rows = Array.from({ length: 8 }, (_, partition) =>
      Array.from({ length: 500 }, (__, index) => anItem(index * 8 + partition, true)),
    );
    const partitions = rows.map((its) => aPartition(its, 1000, (count) => (examined += count), 0.25));
    const { items } = await readMatching(partitions, { limit: 20 }, 'newest first');
    expect(items).toHaveLength(20);
    expect(examined).toBeLessThan(100);
  });

  it('finds rare items in few requests, and stops after an answer full of large rows', async () => {
    const rows = Array.from({ length: 5000 }, (_, index) => anItem(index, index === 4100));
    let requests = 0;
    const count = () => {
      requests += 1;
    };
    const { items } = await readMatching(
      [aPartition(rows, 5000, count, 0.01)],
      { limit: 20 },
      'newest first',
    );
    expect([items.length, requests <= 6]).toEqual([1, true]);
    requests = 0;
    const page = await readMatching([aPartition(rows, 10, count, 25)], { limit: 20 }, 'newest first');
    expect(page).toEqual({ items: [], next: anItem(4996, false).id });
    expect(requests).toBe(1);
  });

  it('fails when one of its partitions fails', async () => {
    const broken: PartitionScan<Item> = async () => {
      throw new Error('throttled');
    };
    await expect(readMatching([aPartition([], 9), broken], { limit: 1 }, 'newest first')).rejects.toThrow(
      'throttled',
    );
  });
});
