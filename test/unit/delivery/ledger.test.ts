import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { AttemptRecord, Delivery } from '../../../functions/delivery/delivery.ts';
import {
  addCounts,
  countDurations,
  countOpen,
  type DeliveryChange,
  getHourBefore,
  getLatestHours,
  getLedgerHour,
  type HourRange,
  LedgerEntry,
  ledgerStore,
  NO_COUNTS,
  sumChanges,
  toCounts,
  toEndOfHour,
  toStartOfHour,
} from '../../../functions/delivery/ledger.ts';
import { cacheFinishedHours, estimateLatency } from '../../../functions/delivery/statistics.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, aLedgerEntry, later, NOW, seconds } from '../../builders.ts';
import { sharedMemoryTables } from '../../doubles/tables/stack-tables.ts';
import { recentTimes } from '../aws/arbitraries.ts';

const HOUR = seconds(3600);
const ENDPOINTS = [newId('whk', NOW), newId('whk', NOW)];

const buildLog = (count: number): AttemptRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    startedAt: NOW.toISOString(),
    durationMs: 0,
  }));

/** A history of a delivery: still open, ended later, or skipped from the start. */
interface History {
  endpoint: number;
  generation: number;
  bornAfter: number;
  attempts: number;
  lostOutcomes: number;
  end: 'open' | 'succeeded' | 'exhausted' | 'skipped' | 'skipped at once';
}
const histories: fc.Arbitrary<History> = fc
  .record({
    endpoint: fc.nat({ max: ENDPOINTS.length - 1 }),
    generation: fc.nat({ max: 1 }),
    bornAfter: fc.nat({ max: 3 * HOUR }),
    attempts: fc.nat({ max: 8 }),
    lostOutcomes: fc.nat({ max: 8 }),
    end: fc.constantFrom<History['end']>('open', 'succeeded', 'exhausted', 'skipped', 'skipped at once'),
  })
  .map((history) => ({ ...history, lostOutcomes: Math.min(history.lostOutcomes, history.attempts) }));

/** The stream's changes of a history. */
function listChanges({
  endpoint,
  generation,
  bornAfter,
  attempts,
  lostOutcomes,
  end,
}: History): DeliveryChange[] {
  const born = aDelivery({
    id: newId('dlv', later(NOW, bornAfter)),
    webhookId: ENDPOINTS[endpoint],
    generation,
  });
  if (end === 'open') return [{ kind: 'added', delivery: born }];
  if (end === 'skipped at once') return [{ kind: 'added', delivery: { ...born, status: 'skipped' } }];
  const ended: Delivery = { ...born, status: end, attempts, attemptLog: buildLog(attempts - lostOutcomes) };
  return [
    { kind: 'added', delivery: born },
    { kind: 'ended', delivery: ended },
  ];
}

const sumCounts = (entries: readonly LedgerEntry[]) =>
  entries.reduce<LedgerEntry | typeof NO_COUNTS>(addCounts, NO_COUNTS);

describe('ledger of any deliveries', () => {
  it('adds up to the ended and the open deliveries', () => {
    fc.assert(
      fc.property(fc.array(histories), (all) => {
        const sum = sumCounts(sumChanges(all.flatMap(listChanges)));
        const ended = (...ends: History['end'][]) => all.filter(({ end }) => ends.includes(end)).length;
        expect(sum).toMatchObject({
          owed: all.length,
          succeeded: ended('succeeded'),
          exhausted: ended('exhausted'),
          skipped: ended('skipped', 'skipped at once'),
        });
        expect(countOpen(addCounts(sum, NO_COUNTS))).toBe(ended('open'));
      }),
    );
  });

  it('balances in each hour of each endpoint', () => {
    fc.assert(
      fc.property(fc.array(histories), (all) => {
        for (const entry of sumChanges(all.flatMap(listChanges))) {
          const of = all.filter(
            ({ endpoint, generation, bornAfter }) =>
              ENDPOINTS[endpoint] === entry.webhookId &&
              generation === entry.generation &&
              toStartOfHour(later(NOW, bornAfter)) === entry.hour,
          );
          expect(entry.owed).toBe(of.length);
          expect(countOpen(entry)).toBe(of.filter(({ end }) => end === 'open').length);
          expect(LedgerEntry.parse(entry)).toEqual(entry);
        }
      }),
    );
  });

  it('counts each attempt without a recorded outcome of an ended delivery as a possible duplicate', () => {
    fc.assert(
      fc.property(fc.array(histories), (all) => {
        const lost = all
          .filter(({ end }) => end !== 'open' && end !== 'skipped at once')
          .reduce((sum, { lostOutcomes }) => sum + lostOutcomes, 0);
        expect(sumCounts(sumChanges(all.flatMap(listChanges))).duplicates).toBe(lost);
      }),
    );
  });
});

describe('counts of one change', () => {
  it('have no negative duplicates when the log has more attempts than were started', () => {
    const delivery = aDelivery({ status: 'succeeded', attempts: 1, attemptLog: buildLog(2) });
    expect(toCounts({ kind: 'ended', delivery })).toEqual({ ...NO_COUNTS, succeeded: 1 });
  });

  it.each(['pending', 'retrying'] as const)('have no end when the delivery is %s', (status) => {
    expect(toCounts({ kind: 'ended', delivery: aDelivery({ status, attempts: 3 }) })).toEqual(NO_COUNTS);
  });
});

describe('ledger hour of a delivery', () => {
  it('is the hour of the time in its id, so that an audit finds the delivery by its key', () => {
    fc.assert(
      fc.property(recentTimes, (time) => {
        const hour = getLedgerHour({ id: newId('dlv', time) });
        expect(hour).toMatch(/:00:00\.000Z$/);
        expect(new Date(hour).getTime()).toBeLessThanOrEqual(time.getTime());
        expect(toEndOfHour(hour).getTime()).toBeGreaterThan(time.getTime());
        expect(toEndOfHour(hour).getTime() - new Date(hour).getTime()).toBe(HOUR);
      }),
    );
  });
});

const durations = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 200 });
const count = (all: readonly number[]) => countDurations(all.map((durationMs) => ({ durationMs })));

/** The least value that a share of all values does not exceed. */
const quantile = (all: readonly number[], share: number) =>
  all.toSorted((a, b) => a - b)[Math.ceil(share * all.length) - 1] ?? Number.NaN;

describe('latency of attempts', () => {
  it('is within 42 % of the quantiles above 8 ms, for any durations', () => {
    fc.assert(
      fc.property(durations, (all) => {
        const latency = estimateLatency(count(all));
        for (const [estimate, share] of [
          [latency?.p50Ms, 0.5],
          [latency?.p95Ms, 0.95],
        ] as const) {
          const truth = quantile(all, share);
          if (truth > 8) expect(estimate).toBeGreaterThanOrEqual(Math.floor(truth / 1.42));
          expect(estimate).toBeLessThanOrEqual(Math.ceil(Math.max(8, truth) * 1.42));
        }
      }),
    );
  });
});

const webhookId = newId('whk', NOW);

it('an addition to the ledger marks the day before it counts, and again after a failure', async () => {
  const part = { shardId: 'a-shard', first: '1', last: '1' };
  const entry = aLedgerEntry({ webhookId });
  const written: unknown[] = [];
  const { ledger: table } = sharedMemoryTables()(async (_operation, { Key }, answer) => {
    written.push(Key);
    if (written.length === 1) throw new Error('throttled');
    return answer();
  });
  const ledger = ledgerStore(table);

  await expect(ledger.add(part, entry)).rejects.toThrow('throttled');
  await ledger.add(part, entry);

  const active = keys.active(webhookId, 0, entry.hour);
  expect(written).toEqual([active, active, keys.ledger(webhookId, 0, entry.hour)]);
});

const hour = (back: number, counts: Partial<LedgerEntry> = { owed: 1, succeeded: 1 }) =>
  aLedgerEntry({ webhookId, hour: getHourBefore(NOW, back), ...counts });

/** A ledger of some entries, with the hours that were read from it. */
function aReader(entries: LedgerEntry[]) {
  const asked: HourRange[] = [];
  const read = cacheFinishedHours(async (_id, _generation, range) => {
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
            const entriesRead = await read(count, now);
            expect(entriesRead.map(({ hour: at }) => at).sort()).toEqual(
              expected.map(({ hour: at }) => at).sort(),
            );
          }
        },
      ),
    );
  });
});
