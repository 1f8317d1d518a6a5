import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { timedOutAfter } from '../../../functions/delivery/delivery.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { TRACE } from './attempts.ts';
import { newStores } from './stores.ts';

const make = newStores();

const at = NOW.getTime();

describe('schedule of an endpoint with a limit', () => {
  async function aSchedule() {
    const { schedules } = await make();
    const id = newId('whk', NOW);
    return {
      find: () => schedules.find(id),
      /** Takes times in the knowledge of the schedule as it is, or of an older one. */
      take: async (
        rate: number,
        count: number,
        { now = NOW, seen = schedules.find(id), clock = () => now } = {},
      ) => schedules.take(id, { seen: await seen, rate, count, now: clock }),
    };
  }

  it('gives the next free times, from now on when it is behind', async () => {
    const { find, take } = await aSchedule();
    expect(await find()).toBeUndefined();

    expect(await take(4, 2)).toEqual({ era: 1, times: [at, at + 250] });
    expect(await take(4, 1)).toEqual({ era: 1, times: [at + 500] });
    expect(await find()).toEqual({ next: at + 750, rate: 4, era: 1 });
    expect(await take(4, 2, { now: later(NOW, 10_000) })).toEqual({
      era: 1,
      times: [at + 10_000, at + 10_250],
    });
  });

  it('changes the limit only from the time at which it is written: a process may be frozen before', async () => {
    const { find, take } = await aSchedule();
    await take(3, 1);
    const seen = find();
    await seen;
    await take(3, 6, { now: later(NOW, 500) });
    const times = [NOW, later(NOW, 3000)];
    const changed = await take(50, 1, { seen, clock: () => times.shift() ?? later(NOW, 3000) });
    expect(changed).toEqual({ era: 2, times: [at + 5000] });
  });

  it('begins a new era two seconds after the limit has changed', async () => {
    const { take } = await aSchedule();
    await take(1, 100);

    expect(await take(4, 2)).toEqual({ era: 2, times: [at + 2000, at + 2250] });
    expect(await take(1, 1)).toEqual({ era: 3, times: [at + 2000] });
  });

  it('gives each time once to concurrent workers, which have read different schedules or none', async () => {
    const { take } = await aSchedule();
    const counts = fc.sample(fc.integer({ min: 1, max: 4 }), { numRuns: 12, seed: 7 });
    const unread = { seen: Promise.resolve(undefined) };
    const given = await Promise.all(counts.map((count) => take(300, count, unread)));

    const times = given.flatMap((turns) => turns.times).toSorted((one, other) => one - other);
    expect(times).toHaveLength(counts.reduce((sum, count) => sum + count, 0));
    for (const [index, time] of times.entries()) expect(time).toBeCloseTo(at + (index * 1000) / 300, 2);
  });
});

describe('delivery that keeps its turn', () => {
  const turn = { at: at + 400_000, era: 1, attempts: 0, missed: 0 };
  const until = later(NOW, seconds(340));
  const terms = { turn, until, isParked: true, now: NOW };
  const claim = { leaseSeconds: 25, maxAttempts: 8 };

  it('cannot be claimed before its message comes, and is found by the reconciler when it is parked', async () => {
    const { deliveries, due } = await make();
    const delivery = aDelivery();
    await deliveries.add(delivery);

    expect(await deliveries.keepTurn(delivery, terms)).toBe('done');
    const parked = { ...delivery, nextRetryAt: until.toISOString(), parked: true, turn };
    expect(await deliveries.find(delivery)).toEqual(parked);
    expect(await deliveries.claim(delivery, { now: NOW, ...claim })).toEqual({
      kind: 'not-due',
      at: until,
      parked: true,
    });
    const schedules = await Promise.all(
      Array.from({ length: 32 }, (_, shard) => due.find('parked', shard, until)),
    );
    const [entry] = schedules.flatMap(({ entries }) => entries);
    expect(entry).toMatchObject({ message: { id: delivery.id }, dueAt: until.toISOString() });

    // Resumed, it can be claimed; the end of its attempt is that of its turn.
    if (entry !== undefined) await due.postpone(entry, later(until, seconds(900)), 'sent');
    const claimed = await deliveries.claim(delivery, { now: until, ...claim });
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
    const ended = later(until, seconds(1));
    const settlement = {
      kind: 'retrying' as const,
      attempt: { number: 1, startedAt: until.toISOString(), durationMs: 1000, ...timedOutAfter(1000) },
      at: ended,
      nextRetryAt: later(ended, seconds(30)),
      wait: { hold: 'hidden' as const, lane: 'retry' as const },
    };
    expect(await deliveries.settle(claimed.delivery, settlement, TRACE)).toBe('done');
    const settled = await deliveries.find(delivery);
    expect(settled).not.toHaveProperty('turn');
    expect(settled).not.toHaveProperty('parked');
  });

  it.each([
    ['under a lease', { lease: { token: 'other', until: at + 1 } }],
    ['not due', { status: 'retrying', attempts: 1, nextRetryAt: later(NOW, 1).toISOString() }],
    ['terminal', { status: 'succeeded', attempts: 1, terminalAt: NOW.toISOString() }],
  ] as const)('is left alone when it is %s', async (_name, state) => {
    const { deliveries } = await make();
    const delivery = aDelivery(state);
    await deliveries.add(delivery);

    expect(await deliveries.keepTurn(delivery, terms)).toBe('refused');
    expect(await deliveries.find(delivery)).toEqual(delivery);
  });
});
