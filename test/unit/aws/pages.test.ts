import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeScans, readPage, type Scan } from '../../../functions/aws/pages.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

interface Item {
  id: string;
  matches: boolean;
}

/** Ids that sort by their number. */
const anItem = (number: number, matches = true): Item => ({
  id: `dlv_${String(number).padStart(8, '0')}`,
  matches,
});

interface Answers {
  /** Rows after which an answer ends by its size. */
  cut?: number;
  unitsOfRow?: number;
  onAnswer?: (rows: number, asked: number) => void;
}

/**
 * A partition as DynamoDB scans it: it counts rows that do not match, ends an answer before the limit, and
 * may return a boundary although nothing follows. Each read returns its rows of that moment.
 */
const aPartition =
  (
    rows: readonly Item[],
    { cut = 1000, unitsOfRow = 1, onAnswer = () => undefined }: Answers = {},
  ): Scan<Item> =>
  async (before, most) => {
    const left = rows
      .filter(({ id }) => before === undefined || id < before)
      .sort((one, other) => (one.id < other.id ? 1 : -1));
    const seen = left.slice(0, Math.min(most, cut));
    onAnswer(seen.length, most);
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
  isFiltered: fc.boolean(),
  partitions: fc.integer({ min: 1, max: 9 }),
  limit: fc.integer({ min: 1, max: 25 }),
  bound: fc.integer({ min: 1, max: 40 }),
  cut: fc.integer({ min: 1, max: 30 }),
  unitsOfRow: fc.integer({ min: 1, max: 300 }),
  /** The partitions of items that are written between pages. */
  meanwhile: fc.array(fc.nat(), { maxLength: 30 }),
});

type Scenario = typeof scenarios extends fc.Arbitrary<infer S> ? S : never;

/** The rows in their partitions. Of a filtered listing, only every `rarely`th that could match does. */
const spread = ({ rows, rarely, partitions, isFiltered }: Scenario): Item[][] =>
  Array.from({ length: partitions }, (_, index) =>
    rows
      .filter(({ partition }) => partition % partitions === index)
      .map(({ number, matches }) => anItem(number, !isFiltered || (matches && number % rarely === 0))),
  );

const listNewest = (items: readonly Item[]): string[] =>
  items
    .filter(({ matches }) => matches)
    .map(({ id }) => id)
    .sort()
    .reverse();

/** Reads all pages; `between` runs after each. */
async function pageThrough(
  partitions: readonly Scan<Item>[],
  limit: number,
  terms: Parameters<typeof mergeScans>[2] = {},
  between: (page: number) => void = () => undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { items, next } = await mergeScans(partitions, { limit, after }, terms);
    if (next !== undefined && after !== undefined) expect(next < after).toBe(true);
    pages.push(items.map(({ id }) => id));
    between(pages.length);
    after = next;
  } while (after !== undefined);
  return pages;
}

describe('a listing of partitions', () => {
  it('returns what matches once, newest first, for any sizes, with writes between pages', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { limit, isFiltered, bound, cut, unitsOfRow, meanwhile } = scenario;
        const rows = spread(scenario);
        const expected = listNewest(rows.flat());
        let newest = 1_000_000;
        const pages = await pageThrough(
          rows.map((its) => aPartition(its, { cut, unitsOfRow })),
          limit,
          { isFiltered, maxUnits: bound },
          (page) => {
            for (const place of meanwhile.slice((page - 1) * 3, page * 3))
              rows[place % rows.length]?.push(anItem(newest++));
          },
        );
        expect(pages.flat()).toEqual(expected);
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 1500 },
    );
  });

  it('consumes at most its bound of a partition for a page, even when little matches', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ limit, bound, cut, ...scenario }) => {
        const examined = new Map<number, number>();
        const partitions = spread({ limit, bound, cut, ...scenario }).map((its, index) =>
          aPartition(its, {
            cut,
            onAnswer: (rows) => examined.set(index, (examined.get(index) ?? 0) + rows),
          }),
        );
        const { isFiltered } = scenario;
        await pageThrough(partitions, limit, { isFiltered, maxUnits: bound }, () => {
          for (const rows of examined.values()) expect(rows).toBeLessThanOrEqual(bound);
          examined.clear();
        });
      }),
      { numRuns: 500 },
    );
  });

  it('fails when one of its partitions fails', async () => {
    const broken: Scan<Item> = async () => {
      throw new Error('throttled');
    };
    const partitions = [aPartition([anItem(1)]), broken];
    for (const isFiltered of [true, false])
      await expect(mergeScans(partitions, { limit: 1 }, { isFiltered })).rejects.toThrow('throttled');
  });
});

describe('a listing without a filter', () => {
  it('returns the item after which the next page begins, and none after the last of all', async () => {
    const pageOf = (rows: Item[], limit: number) => mergeScans([aPartition(rows)], { limit });
    const [first, second, third] = [1, 2, 3].map((number) => anItem(number)) as [Item, Item, Item];
    expect(await pageOf([first, second, third], 2)).toEqual({ items: [third, second], next: second.id });
    expect(await pageOf([first], 1)).toEqual({ items: [first] });
    expect(await pageOf([], 1)).toEqual({ items: [] });
  });
});

describe('a filtered listing', () => {
  it('examines about a page when everything matches', async () => {
    let examined = 0;
    const partitions = Array.from({ length: 8 }, (_, partition) =>
      aPartition(
        Array.from({ length: 500 }, (__, index) => anItem(index * 8 + partition)),
        { unitsOfRow: 0.25, onAnswer: (count) => (examined += count) },
      ),
    );
    const { items } = await mergeScans(partitions, { limit: 20 }, { isFiltered: true });
    expect(items).toHaveLength(20);
    expect(examined).toBeLessThan(100);
  });

  it('finds rare items in few requests, and stops after an answer full of large rows', async () => {
    const rows = Array.from({ length: 5000 }, (_, index) => anItem(index, index === 4100));
    let requests = 0;
    const onAnswer = () => {
      requests += 1;
    };
    const read = (answers: Answers) =>
      mergeScans([aPartition(rows, { ...answers, onAnswer })], { limit: 20 }, { isFiltered: true });
    const { items } = await read({ cut: 5000, unitsOfRow: 0.01 });
    expect([items.length, requests <= 6]).toEqual([1, true]);
    requests = 0;
    expect(await read({ cut: 10, unitsOfRow: 25 })).toEqual({ items: [], next: anItem(4996).id });
    expect(requests).toBe(1);
  });
});

describe('a page of a table', () => {
  const dynamo = mockedDynamoDb();
  const table = { client: new DynamoDBClient({}), name: 'service' };
  const parse = (row: unknown) => ({ id: String(Object(row).sk) });
  const rows = (...names: string[]) => names.map((sk) => ({ pk: 'p', sk }));
  const requests = () => dynamo.commandCalls(QueryCommand).map((call) => call.args[0].input);
  it('continues after an empty answer', async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [], LastEvaluatedKey: { pk: 'p', sk: 'b' } })
      .resolves({ Items: rows('a') });
    expect(await readPage(table, ['p'], { limit: 5 }, { parse })).toEqual({ items: [{ id: 'a' }] });
    expect(requests().map(({ ExpressionAttributeValues: values = {} }) => Object.values(values))).toEqual([
      ['p', ' ', '}~'],
      ['p', ' ', 'a~'],
    ]);
  });
});
