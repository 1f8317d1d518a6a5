import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addCounts, type LedgerEntry, NO_COUNTS } from '../../../functions/delivery/ledger.ts';
import { aLedgerEntry } from '../../builders.ts';
import { newStores, type Stores } from './stores.ts';

const make = newStores();

type Ledger = Stores['ledger'];

const SHARD = 'shardId-00000001795245426000-1f2e3d4c';
const part = (first: number, last: number, shardId = SHARD) => ({
  shardId,
  first: String(first),
  last: String(last),
});

const readOne = async (ledger: Ledger, { webhookId, generation, hour }: LedgerEntry) =>
  (await ledger.read(webhookId, generation, { first: hour, last: hour }))[0];

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
