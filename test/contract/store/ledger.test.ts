import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
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
const part = { shardId: SHARD, first: '100', last: '100' };

const addAll = (ledger: Ledger, entries: readonly LedgerAddition[]) =>
  Promise.all(entries.map((entry) => ledger.add(part, entry)));

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
    await ledger.add(part, entry);
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
      await ledger.add({ ...part, first: '101', last: '200' }, { ...entry, ...NO_COUNTS, [name]: 1 });
      const changed = await readOne(ledger, entry);

      expect(await ledger.correct(entry, truth)).toBe('changed');

      expect(await readOne(ledger, entry)).toEqual(changed);
    },
  );

  it('is done once when ten run at once', async () => {
    const { ledger, entry } = await setUp({ owed: 8 });

    const results = await Promise.all(Array.from({ length: 10 }, () => ledger.correct(entry, truth)));

    expect(results.filter((result) => result === 'corrected')).toHaveLength(1);
  });

  it('creates no entry', async () => {
    const { ledger } = await make();
    const entry = aLedgerEntry();

    expect(await ledger.correct(entry, truth)).toBe('changed');
    expect(await readOne(ledger, entry)).toBeUndefined();
  });

  it('keeps later additions possible', async () => {
    const { ledger, entry } = await setUp({ owed: 8 });
    await ledger.correct(entry, truth);

    await ledger.add({ ...part, first: '101', last: '200' }, { ...entry, ...NO_COUNTS, owed: 1 });

    expect(await readOne(ledger, entry)).toMatchObject({ ...truth, owed: 8 });
  });
});
