import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PartitionReader, readNewestFirst } from '../../../functions/store/pages.ts';

interface Item {
  id: string;
}

/**
 * A partition that grows: each read returns its items of that moment.
 * @param cut items after which an answer ends by its size
 */
function aPartition(items: Item[], cut = 1000, unitsOfItem = 1): PartitionReader<Item> {
  return async (before, limit) => {
    const left = items
      .filter((item) => before === undefined || item.id < before)
      .sort((one, other) => (one.id < other.id ? 1 : -1));
    const read = left.slice(0, Math.min(limit, cut));
    return { items: read, ended: read.length === left.length, units: read.length * unitsOfItem };
  };
}

/** Ids that sort by their number. */
const anItem = (number: number): Item => ({ id: `msg_${String(number).padStart(8, '0')}` });
const listNewest = (items: Item[]): string[] =>
  items
    .map((item) => item.id)
    .sort()
    .reverse();

/** Reads all pages; `between` runs after each. */
async function pageThrough(
  partitions: readonly PartitionReader<Item>[],
  limit: number,
  between: (page: number) => void = () => undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { items, next } = await readNewestFirst(partitions, { limit, after });
    pages.push(items.map((item) => item.id));
    between(pages.length);
    after = next;
  } while (after !== undefined);
  return pages;
}

/** Distinct numbers, each with its partition. */
const placements = (partitions: number) =>
  fc.uniqueArray(fc.tuple(fc.nat({ max: 100_000 }), fc.nat({ max: partitions - 1 })), {
    selector: ([number]) => number,
    maxLength: 120,
  });
const scenarios = fc
  .integer({ min: 1, max: 9 })
  .chain((count) => fc.tuple(fc.constant(count), placements(count), fc.integer({ min: 1, max: 25 })));

/** Items in their partitions. */
function spread(count: number, placed: readonly (readonly [number, number])[]): Item[][] {
  return Array.from({ length: count }, (_, partition) =>
    placed.filter(([, place]) => place === partition).map(([number]) => anItem(number)),
  );
}

describe('listing', () => {
  it('returns each item once, newest first, for any partitions and page size', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ([count, placed, limit]) => {
        const partitions = spread(count, placed);
        const pages = await pageThrough(
          partitions.map((items) => aPartition(items)),
          limit,
        );
        expect(pages.flat()).toEqual(listNewest(partitions.flat()));
      }),
      { numRuns: 500 },
    );
  });

  it('fills each page but the last, and ends with the last item', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ([count, placed, limit]) => {
        const pages = await pageThrough(
          spread(count, placed).map((items) => aPartition(items)),
          limit,
        );
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
        expect(pages).toHaveLength(Math.max(1, Math.ceil(placed.length / limit)));
      }),
      { numRuns: 500 },
    );
  });

  it('returns each item of its beginning once while newer ones are written', async () => {
    await fc.assert(
      fc.asyncProperty(
        scenarios,
        fc.array(fc.nat(), { maxLength: 40 }),
        async ([count, placed, limit], places) => {
          const partitions = spread(count, placed);
          const atFirst = listNewest(partitions.flat());
          let newest = 1_000_000;
          const writeMore = (page: number) => {
            for (const place of places.slice((page - 1) * 4, page * 4))
              partitions[place % count]?.push(anItem(newest++));
          };
          const pages = await pageThrough(
            partitions.map((items) => aPartition(items)),
            limit,
            writeMore,
          );
          expect(pages.flat()).toEqual(atFirst);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('requests little more than its share from each partition', async () => {
    const asked: number[] = [];
    const partitions = Array.from(
      { length: 8 },
      (): PartitionReader<Item> => async (_, limit) => {
        asked.push(limit);
        return { items: [], ended: true, units: 0.5 };
      },
    );
    await readNewestFirst(partitions, { limit: 100 });
    expect(asked).toHaveLength(8);
    for (const limit of asked) expect(limit).toBeLessThanOrEqual(16);
  });

  it('returns each item once when large rows end answers and pages early', async () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 300 }));
    await fc.assert(
      fc.asyncProperty(scenarios, sizes, async ([count, placed, limit], [cut, unitsOfItem]) => {
        const partitions = spread(count, placed);
        const pages = await pageThrough(
          partitions.map((items) => aPartition(items, cut, unitsOfItem)),
          limit,
        );
        expect(pages.flat()).toEqual(listNewest(partitions.flat()));
      }),
      { numRuns: 500 },
    );
  });

  it('reads no more once it has consumed the units of one answer', async () => {
    let answers = 0;
    const read = aPartition(
      Array.from({ length: 100 }, (_, number) => anItem(number)),
      4,
      64,
    );
    const counting: PartitionReader<Item> = (before, limit) => {
      answers += 1;
      return read(before, limit);
    };
    const { items, next } = await readNewestFirst([counting], { limit: 100 });
    expect([answers, items.length, next]).toEqual([2, 8, anItem(92).id]);
  });

  it('returns the item after which the next page begins', async () => {
    const items = [1, 2, 3].map(anItem);
    expect(await readNewestFirst([aPartition(items)], { limit: 2 })).toEqual({
      items: [anItem(3), anItem(2)],
      next: anItem(2).id,
    });
  });

  it('has no next page when its last item is the last of all', async () => {
    expect(await readNewestFirst([aPartition([anItem(1)])], { limit: 1 })).toEqual({ items: [anItem(1)] });
    expect(await readNewestFirst([aPartition([])], { limit: 1 })).toEqual({ items: [] });
  });

  it('fails when one of its partitions fails', async () => {
    const broken: PartitionReader<Item> = async () => {
      throw new Error('throttled');
    };
    await expect(readNewestFirst([aPartition([anItem(1)]), broken], { limit: 1 })).rejects.toThrow(
      'throttled',
    );
  });
});
