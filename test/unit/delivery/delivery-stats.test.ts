import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  countDurations,
  getHourBefore,
  type LedgerEntry,
  NO_COUNTS,
} from '../../../functions/delivery/ledger.ts';
import {
  buildDeliveryStats,
  buildEndpointStats,
  findOldestOpenHours,
} from '../../../functions/delivery/statistics.ts';
import { NOW } from '../../builders.ts';

const webhookId = newId('whk', NOW);

const moments = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2100-01-01') });
const counts = fc.integer({ min: 1, max: 168 });

/** Some of the hours before a moment, in any order, each with ended and open deliveries. */
const ledgers = fc.record({ now: moments.map((ms) => new Date(ms)), count: counts }).chain(({ now, count }) =>
  fc.record({
    now: fc.constant(now),
    count: fc.constant(count),
    entries: fc
      .shuffledSubarray(Array.from({ length: count }, (_, back) => getHourBefore(now, back)))
      .chain((hours) => fc.tuple(...hours.map((hour) => buildEntry(hour)))),
  }),
);

const some = fc.nat({ max: 50 });
const buildEntry = (hour: string): fc.Arbitrary<LedgerEntry> =>
  fc
    .record({ pending: some, succeeded: some, exhausted: some, skipped: some, duplicates: some })
    .map(({ pending, ...ends }) => ({
      webhookId,
      generation: 0,
      hour,
      owed: pending + ends.succeeded + ends.exhausted + ends.skipped,
      ...ends,
    }));

describe('latency in stats', () => {
  const entryOf = (durations?: LedgerEntry['durations']): LedgerEntry => ({
    ...NO_COUNTS,
    webhookId,
    generation: 0,
    hour: getHourBefore(NOW, 0),
    ...(durations && { durations }),
  });
  const now = { now: NOW, count: 1 };

  it('is that of the attempts of all hours, of the endpoint and of all endpoints', () => {
    const entries = [entryOf(countDurations([{ durationMs: 80 }])), entryOf()];
    const { latency } = buildEndpointStats(webhookId, now, entries);
    expect(latency?.p95Ms).toBeGreaterThanOrEqual(64);
    expect(latency?.p95Ms).toBeLessThanOrEqual(91);
    const endpoint = { id: webhookId, url: '', status: 'active' as const, consecutiveFailures: 0 };
    const stats = buildDeliveryStats([{ ...endpoint, failing: null, waitingSince: null }], now, entries);
    expect([stats.latency, stats.endpoints[0]?.latency]).toEqual([latency, latency]);
  });
});

describe('stats of an endpoint', () => {
  it('have the earliest hour with an open delivery, or null', () => {
    fc.assert(
      fc.property(ledgers, ({ now, count, entries }) => {
        const { hours, oldestPending, totals } = buildEndpointStats(webhookId, { now, count }, entries);
        const open = hours.filter(({ pending }) => pending > 0).map(({ hour }) => hour);
        expect(oldestPending).toBe(open.sort()[0] ?? null);
        expect(oldestPending === null).toBe(totals.pending === 0);
      }),
    );
  });

  it('have zero counts for a ledger without entries', () => {
    expect(buildEndpointStats(webhookId, { now: NOW, count: 24 }, [])).toEqual({
      webhookId,
      from: '2026-11-19T10:00:00.000Z',
      to: '2026-11-20T10:00:00.000Z',
      totals: { owed: 0, pending: 0, succeeded: 0, exhausted: 0, skipped: 0, duplicates: 0 },
      latency: null,
      oldestPending: null,
      hours: [],
    });
  });
});

describe('stats of all endpoints', () => {
  const others = [newId('whk', NOW), newId('whk', NOW), newId('whk', NOW)];
  const buildEndpoint = (id: (typeof others)[number]) =>
    ({
      id,
      url: 'https://receiver.example.com/',
      status: 'active',
      consecutiveFailures: 0,
      failing: null,
      waitingSince: null,
    }) as const;
  /** Each entry of the ledger, for one of the endpoints. */
  const spread = ledgers.chain(({ entries, ...terms }) =>
    fc
      .array(fc.constantFrom(...others), { minLength: entries.length, maxLength: entries.length })
      .map((at) => ({
        ...terms,
        entries: entries.map((entry, index) => ({ ...entry, webhookId: at[index] ?? webhookId })),
      })),
  );
  const overview = ({ now, count, entries }: Given<typeof spread>) =>
    buildDeliveryStats(others.map(buildEndpoint), { now, count }, entries);

  it('have the oldest open hour of each endpoint with open deliveries', () => {
    fc.assert(
      fc.property(spread, (terms) => {
        const expected = overview(terms).endpoints.flatMap(({ webhookId: id, oldestPending }) =>
          oldestPending === null ? [] : [[id, oldestPending]],
        );
        expect([...findOldestOpenHours(terms.entries)].sort()).toEqual(expected.sort());
      }),
    );
  });

  it('have the time since when deliveries of each endpoint wait', () => {
    const waitingSince = '2026-11-20T09:10:00.000Z';
    const given = others.map((id, index) => ({ ...buildEndpoint(id), ...(index === 1 && { waitingSince }) }));
    const { endpoints } = buildDeliveryStats(given, { now: NOW, count: 24 }, []);
    expect(endpoints.map((one) => one.waitingSince)).toEqual([null, waitingSince, null]);
  });

  it('have each hour once, newest first, and every endpoint, in the given order', () => {
    fc.assert(
      fc.property(spread, (terms) => {
        const { hours, endpoints } = overview(terms);
        const expected = [...new Set(terms.entries.map(({ hour }) => hour))].sort().reverse();
        expect(hours.map(({ hour }) => hour)).toEqual(expected);
        expect(endpoints.map((one) => one.webhookId)).toEqual(others);
      }),
    );
  });

  it('are empty without endpoints', () => {
    expect(buildDeliveryStats([], { now: NOW, count: 24 }, [])).toMatchObject({
      totals: { owed: 0, pending: 0 },
      backlog: { pending: 0, oldestPending: null },
      hours: [],
      endpoints: [],
    });
  });
});

type Given<A> = A extends fc.Arbitrary<infer T> ? T : never;
