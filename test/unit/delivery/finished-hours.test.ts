import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { keepFinishedHours } from '../../../functions/delivery/finished-hours.ts';
import {
  getHourBefore,
  getLatestHours,
  type HourRange,
  type LedgerEntry,
} from '../../../functions/delivery/ledger.ts';
import { aLedgerEntry, later, NOW, seconds } from '../../builders.ts';

const webhookId = newId('whk', NOW);
const hour = (back: number, counts: Partial<LedgerEntry> = { owed: 1, succeeded: 1 }) =>
  aLedgerEntry({ webhookId, hour: getHourBefore(NOW, back), ...counts });

/** A ledger of some entries, with the hours that were read from it. */
function aReader(entries: LedgerEntry[]) {
  const asked: HourRange[] = [];
  const read = keepFinishedHours(async (_id, _generation, range) => {
    asked.push(range);
    return entries.filter(({ hour: at }) => at >= range.first && at <= range.last);
  });
  return { asked, read: (count: number, now = NOW) => read(webhookId, 0, getLatestHours(now, count), now) };
}

describe('the reader of finished hours', () => {
  it('reads only the hours again that began less than three hours ago', async () => {
    const { asked, read } = aReader([0, 1, 5, 30].map((back) => hour(back)));
    const first = await read(168);
    expect(await read(168)).toEqual(expect.arrayContaining(first));
    expect(asked[1]).toEqual({ first: getHourBefore(NOW, 3), last: getHourBefore(NOW, 0) });
  });

  it('reads every hour again from the first with an open delivery', async () => {
    const { asked, read } = aReader([hour(40), hour(20, { owed: 2, succeeded: 1 }), hour(10)]);
    await read(168);
    await read(168);
    expect(asked[1]?.first).toBe(getHourBefore(NOW, 20));
  });

  it('reads all hours again when more are requested than before, or after ten minutes', async () => {
    const { asked, read } = aReader([hour(30)]);
    await read(24);
    await read(168);
    await read(168, later(NOW, seconds(601)));
    expect(asked.map(({ first }) => first)).toEqual([
      getHourBefore(NOW, 23),
      getHourBefore(NOW, 167),
      getHourBefore(later(NOW, seconds(601)), 167),
    ]);
  });

  it('returns what the ledger has, regardless of earlier reads, while finished hours do not change', async () => {
    const counts = fc.record({ back: fc.nat({ max: 200 }), open: fc.boolean() });
    const reads = fc.array(
      fc.record({ count: fc.integer({ min: 1, max: 168 }), after: fc.nat({ max: 7200 }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(counts, { selector: ({ back }) => back, maxLength: 30 }),
        reads,
        async (given, asked) => {
          const entries = given.map(({ back, open }) => hour(back, { owed: 1, succeeded: open ? 0 : 1 }));
          const { read } = aReader(entries);
          let now = NOW;
          for (const { count, after } of asked) {
            now = later(now, seconds(after));
            const { first, last } = getLatestHours(now, count);
            const expected = entries.filter(({ hour: at }) => at >= first && at <= last);
            const found = await read(count, now);
            expect(found.map(({ hour: at }) => at).sort()).toEqual(expected.map(({ hour: at }) => at).sort());
          }
        },
      ),
    );
  });
});
