import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  addCounts,
  getHourBefore,
  type LedgerAddition,
  type LedgerEntry,
  NO_COUNTS,
  toStartOfHour,
} from '../../../functions/delivery/ledger.ts';
import { keys, LEDGER_SHARDS, listShards } from '../../../functions/tenancy/keys.ts';
import { aLedgerEntry, NOW } from '../../builders.ts';
import { newStores, type Stores } from './stores.ts';

const make = newStores();

type Ledger = Stores['ledger'];

const SHARD = 'shardId-00000001795245426000-1f2e3d4c';
const part = (first: number, last: number, shardId = SHARD) => ({
  shardId,
  first: String(first),
  last: String(last),
});

const addAll = (ledger: Ledger, entries: readonly LedgerAddition[]) =>
  Promise.all(entries.map((entry) => ledger.add(part(100, 100), entry)));

const readOne = async (ledger: Ledger, { webhookId, generation, hour }: LedgerEntry) =>
  (await ledger.read(webhookId, generation, { first: hour, last: hour }))[0];

const byKey = (entries: readonly LedgerEntry[]) =>
  entries.toSorted((a, b) =>
    `${a.webhookId}/${a.generation}/${a.hour}` < `${b.webhookId}/${b.generation}/${b.hour}` ? -1 : 1,
  );

/** The counts of all shards of an hour, by shard. */
async function inHour(ledger: Ledger, hour: string): Promise<LedgerEntry[][]> {
  return Promise.all(
    listShards(LEDGER_SHARDS).map(async (shard) => {
      const entries: LedgerEntry[] = [];
      let after: Record<string, unknown> | undefined;
      do {
        const page = await ledger.inHour(hour, shard, after);
        entries.push(...page.entries);
        after = page.next;
      } while (after !== undefined);
      return entries;
    }),
  );
}

describe('a read of the ledger', () => {
  it('returns the requested hours of an endpoint and generation that have counts', async () => {
    const { ledger } = await make();
    const [latest = '', middle = '', oldest = ''] = [1, 2, 3].map((count) => getHourBefore(NOW, count));
    const entry = aLedgerEntry({ owed: 2, succeeded: 1 });
    const { webhookId } = entry;
    await addAll(ledger, [
      { ...entry, hour: latest },
      { ...entry, hour: middle, owed: 5 },
      { ...entry, hour: latest, generation: 1 },
      aLedgerEntry({ hour: latest, owed: 9 }),
    ]);

    expect(byKey(await ledger.read(webhookId, 0, { first: latest, last: latest }))).toEqual([
      { ...entry, hour: latest },
    ]);
    expect(byKey(await ledger.read(webhookId, 0, { first: oldest, last: latest }))).toEqual(
      byKey([
        { ...entry, hour: latest },
        { ...entry, hour: middle, owed: 5 },
      ]),
    );
    expect(await ledger.read(webhookId, 1, { first: oldest, last: toStartOfHour(NOW) })).toEqual([
      { ...entry, hour: latest, generation: 1 },
    ]);
    expect(await ledger.read(webhookId, 0, { first: oldest, last: oldest })).toEqual([]);
  });

  it('returns all of many hours', async () => {
    const { ledger } = await make();
    const webhookId = newId('whk', NOW);
    const hours = Array.from({ length: 240 }, (_unused, count) => getHourBefore(NOW, count));
    const entries = hours.map((hour, index) => aLedgerEntry({ webhookId, hour, owed: index }));
    await addAll(ledger, entries);

    const range = { first: hours.at(-1) ?? '', last: hours[0] ?? '' };
    expect(byKey(await ledger.read(webhookId, 0, range))).toEqual(byKey(entries));
  });

  it('returns all endpoints of an hour, each in one shard, and none of another hour', async () => {
    const { ledger } = await make();
    const entries = Array.from({ length: 60 }, (_unused, index) =>
      aLedgerEntry({ owed: index, generation: index % 2 }),
    );
    await addAll(ledger, [...entries, aLedgerEntry({ hour: getHourBefore(NOW, 1), owed: 1 })]);

    const entriesFound = await inHour(ledger, entries[0]?.hour ?? '');

    expect(byKey(entriesFound.flat())).toEqual(byKey(entries));
    for (const [shard, held] of entriesFound.entries())
      for (const { webhookId, generation, hour } of held)
        expect(keys.active(webhookId, generation, hour).pk).toBe(keys.activeInDay(hour, shard));
  });
});

describe('a correction of the ledger', () => {
  async function setUp(changes: Partial<LedgerAddition>) {
    const { ledger } = await make();
    const entry = aLedgerEntry(changes);
    await ledger.add(part(100, 100), entry);
    return { ledger, entry };
  }
  const truth = { owed: 7, succeeded: 4, exhausted: 2, skipped: 1, duplicates: 3 };

  it('replaces the counts that are unchanged since they were read', async () => {
    const { ledger, entry } = await setUp({ owed: 8, succeeded: 4 });

    expect(await ledger.correct(entry, truth)).toBe('corrected');

    expect(await readOne(ledger, entry)).toEqual({ ...entry, ...truth });
  });

  it.each(['owed', 'succeeded', 'exhausted', 'skipped', 'duplicates'] as const)(
    'is refused when %s has changed since',
    async (name) => {
      const { ledger, entry } = await setUp({ owed: 8, succeeded: 4 });
      await ledger.add(part(101, 200), { ...entry, ...NO_COUNTS, [name]: 1 });
      const changed = await readOne(ledger, entry);

      expect(await ledger.correct(entry, truth)).toBe('changed');

      expect(await readOne(ledger, entry)).toEqual(changed);
    },
  );

  it('creates no entry', async () => {
    const { ledger } = await make();
    const entry = aLedgerEntry();

    expect(await ledger.correct(entry, truth)).toBe('changed');
    expect(await readOne(ledger, entry)).toBeUndefined();
  });
});

describe('an addition to the ledger', () => {
  it('creates an entry and updates it', async () => {
    const { ledger } = await make();
    const entry = aLedgerEntry({ owed: 3, succeeded: 2 });

    expect(await ledger.add(part(90, 100), entry)).toBe('added');
    expect(await readOne(ledger, entry)).toEqual(entry);

    const more = { ...entry, owed: 1, succeeded: 1, exhausted: 1, duplicates: 2 };
    expect(await ledger.add(part(101, 250), more)).toBe('added');
    expect(await readOne(ledger, entry)).toEqual({ ...entry, ...addCounts(entry, more) });
  });

  it.each([
    ['the same part again', part(5, 10)],
    ['a part that begins earlier', part(2, 4)],
    ['a part that goes on further', part(7, 20)],
    ['a part that begins with the last that was counted', part(10, 11)],
  ])('does not count %s, and returns the position up to which changes are counted', async (_name, again) => {
    const { ledger } = await make();
    const entry = aLedgerEntry({ owed: 3 });
    await ledger.add(part(5, 10), entry);

    expect(await ledger.add(again, entry)).toEqual({ countedTo: '10' });

    expect(await readOne(ledger, entry)).toEqual(entry);
  });

  it('compares sequence numbers as numbers of any length', async () => {
    const { ledger } = await make();
    const entry = aLedgerEntry({ owed: 1 });
    await ledger.add(part(8, 9), entry);

    expect(await ledger.add(part(10, 10), entry)).toBe('added');
    const long = '1234567890123456789012345678901234567890';
    expect(await ledger.add({ shardId: SHARD, first: long, last: long }, entry)).toBe('added');
    expect(await ledger.add(part(11, 12), entry)).toEqual({ countedTo: long });
  });

  it('adds the durations of attempts, and reads none where none were counted', async () => {
    const { ledger } = await make();
    const entry = aLedgerEntry({ owed: 1, durations: { 6: 2, 13: 1 } });
    await ledger.add(part(1, 2), entry);
    await ledger.add(part(3, 4), { ...entry, durations: { 13: 4, 27: 1 } });
    const other = aLedgerEntry({ owed: 1 });
    await ledger.add(part(1, 2), other);

    expect((await readOne(ledger, entry))?.durations).toEqual({ 6: 2, 13: 5, 27: 1 });
    expect((await readOne(ledger, other))?.durations).toBeUndefined();
  });

  it('counts once when ten add the same part at once, and in each of several shards', async () => {
    const { ledger } = await make();
    const entry = aLedgerEntry({ owed: 1 });

    const same = await Promise.all(Array.from({ length: 10 }, () => ledger.add(part(1, 5), entry)));
    const different = await Promise.all(
      Array.from({ length: 20 }, (_unused, shard) => ledger.add(part(1, 5, `shardId-${shard}`), entry)),
    );

    expect(same.filter((result) => result === 'added')).toHaveLength(1);
    expect(different).toEqual(Array.from({ length: 20 }, () => 'added'));
    expect(await readOne(ledger, entry)).toEqual({ ...entry, owed: 21 });
  });

  it('counts every change once when parts are read again in other batches', async () => {
    const { ledger } = await make();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 8 }),
        async (count, cuts) => {
          const entry = aLedgerEntry();
          // After any restart the reader comes to the end, going back at most to what is counted.
          const reads = [
            ...cuts.map(([one, other]) => [Math.min(one, other), Math.max(one, other)]),
            [0, count],
          ];
          let reached = 0;
          for (const [from = 0, to = 0] of reads) {
            let first = Math.min(from, reached);
            const last = Math.min(to, count);
            while (first < last) {
              const result = await ledger.add(part(first + 1, last), {
                ...entry,
                ...NO_COUNTS,
                owed: last - first,
              });
              if (result === 'added') break;
              first = Number(result.countedTo);
            }
            reached = Math.max(reached, last);
          }
          expect(await readOne(ledger, entry)).toEqual({ ...entry, ...NO_COUNTS, owed: count });
        },
      ),
      { numRuns: 25 },
    );
  });
});
