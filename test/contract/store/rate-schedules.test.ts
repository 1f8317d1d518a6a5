import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { getClaimability } from '../../../functions/delivery/delivery.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/due.ts';
import { timedOutAfter } from '../../../functions/receivers/attempt-error.ts';
import {
  computeIntervalMs,
  computeWaitTerms,
  planTurns,
  type RateSchedule,
  type ScheduleUpdate,
} from '../../../functions/receivers/endpoint-rate.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { storeKinds } from './stores.ts';

const at = NOW.getTime();
const terms = computeWaitTerms(DEFAULT_GRACE_SECONDS);
const update = (changes: Partial<ScheduleUpdate>): ScheduleUpdate => ({
  rate: 10,
  restarts: false,
  when: {},
  set: {},
  add: {},
  ...changes,
});
const first = update({ restarts: true, set: { next: at, queued: at, parked: 0 } });

describe.each(storeKinds())('schedule of an endpoint with a limit (%s)', (_, make) => {
  async function aSchedule() {
    const { schedules } = await make();
    const id = newId('whk', NOW);
    return { apply: (change: ScheduleUpdate) => schedules.apply(id, change, NOW) };
  }

  it('is changed only in the states that the update names, and is returned either way', async () => {
    const { apply } = await aSchedule();
    expect(await apply(update({ add: { next: 100 } }))).toEqual({ applied: false, schedule: undefined });

    const begun = { next: at, queued: at, parked: 0, rate: 10 };
    expect(await apply(first)).toEqual({ applied: true, schedule: begun });
    expect(await apply(first)).toEqual({ applied: false, schedule: begun });

    const refused = [{ next: { upTo: at - 1 } }, { next: { over: at } }, { parked: { over: 0 } }];
    for (const when of refused)
      expect(await apply(update({ when, add: { next: 1 } }))).toEqual({ applied: false, schedule: begun });
    const moved = { ...begun, next: at + 333.333, queued: at + 5.5 };
    const when = { next: { over: at - 1, upTo: at }, queued: { upTo: at } };
    expect(await apply(update({ when, add: { next: 333.333 }, set: { queued: at + 5.5 } }))).toEqual({
      applied: true,
      schedule: moved,
    });
    expect(await apply(update({ rate: 20, add: { next: 1 } }))).toEqual({ applied: false, schedule: moved });
    const restarted = update({ rate: 20, restarts: true, set: { queued: at, parked: 0 } });
    expect(await apply(restarted)).toEqual({
      applied: true,
      schedule: { ...moved, queued: at, rate: 20 },
    });
  });

  it('gives each start once to concurrent workers', async () => {
    const { apply } = await aSchedule();
    const demands = fc.sample(fc.integer({ min: 1, max: 4 }), { numRuns: 12, seed: 7 });
    const given = await Promise.all(
      demands.map(async (fresh) => {
        let seen: RateSchedule | undefined;
        for (let tried = 0; tried < 50; tried += 1) {
          const demand = { overdue: 0, returning: 0, resumed: 0, fresh };
          const { update: planned, read } = planTurns(seen, demand, 300, at, terms);
          const { applied, schedule } = await apply(planned);
          seen = schedule;
          if (applied && schedule !== undefined) return read(schedule).starts;
        }
        throw new Error('no turn in 50 tries');
      }),
    );
    const starts = given.flat().toSorted((one, other) => one - other);
    expect(starts).toHaveLength(demands.reduce((sum, count) => sum + count, 0));
    for (const [index, start] of starts.entries())
      if (index > 0) expect(start - (starts[index - 1] ?? 0)).toBeCloseTo(computeIntervalMs(300), 2);
  });
});

describe.each(storeKinds())('delivery parked for its turn (%s)', (_, make) => {
  const turn = { at: at + 400_000, rate: 1 };
  const resumedAt = later(NOW, seconds(340));
  const claim = { leaseSeconds: 25, maxAttempts: 8 };

  it('cannot be claimed before it is resumed, and is found by the reconciler then', async () => {
    const { deliveries, due } = await make();
    const delivery = aDelivery();
    await deliveries.add(delivery);

    expect(await deliveries.park(delivery, { turn, resumedAt, now: NOW })).toEqual({ kind: 'parked' });
    const parked = { ...delivery, nextRetryAt: resumedAt.toISOString(), parked: true, turn };
    expect(await deliveries.find(delivery)).toEqual(parked);
    expect(await deliveries.claim(delivery, { now: NOW, ...claim })).toEqual({
      kind: 'not-due',
      at: resumedAt,
      parked: true,
    });
    const found = await Promise.all(
      Array.from({ length: 32 }, (_, shard) => due.find('parked', shard, resumedAt)),
    );
    const [entry] = found.flatMap(({ entries }) => entries);
    expect(entry).toMatchObject({ message: { id: delivery.id }, dueAt: resumedAt.toISOString() });

    // Resumed, it can be parked again or claimed; its attempt ends the wait for the turn.
    if (entry !== undefined) await due.postpone(entry, later(resumedAt, seconds(900)), 'sent');
    const claimed = await deliveries.claim(delivery, { now: resumedAt, ...claim });
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
    const ended = later(resumedAt, seconds(1));
    const settlement = {
      kind: 'retrying' as const,
      attempt: { number: 1, startedAt: resumedAt.toISOString(), durationMs: 1000, ...timedOutAfter(1000) },
      at: ended,
      nextRetryAt: later(ended, seconds(30)),
      wait: { hold: 'hidden' as const, lane: 'retry' as const },
    };
    const endpoint = { id: delivery.webhookId, orgId: delivery.orgId };
    expect(
      await deliveries.settle(claimed.delivery, settlement, { endpoint, effect: 'none', at: ended }),
    ).toBe('done');
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

    expect(await deliveries.park(delivery, { turn, resumedAt, now: NOW })).toEqual(
      getClaimability(delivery, NOW, Number.POSITIVE_INFINITY),
    );
    expect(await deliveries.find(delivery)).toEqual(delivery);
  });
});
