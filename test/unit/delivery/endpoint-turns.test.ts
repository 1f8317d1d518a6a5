import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { DEFAULT_GRACE_SECONDS, EXPIRY_SECONDS } from '../../../functions/delivery/due.ts';
import { endpointTurns } from '../../../functions/delivery/endpoint-turns.ts';
import { computeIntervalMs, computeToleranceMs } from '../../../functions/receivers/endpoint-rate.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { MemoryRateSchedules } from '../../doubles/memory-rate-schedules.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { casesOf } from '../../support/cases.ts';
import { type Model, runLimitedEndpoint } from './a-limited-endpoint.ts';

const MINUTE = 60_000;

/** Arrivals at an even pace. */
const steadily = (perSecond: number, forSeconds: number): number[] =>
  Array.from({ length: Math.round(perSecond * forSeconds) }, (_, index) => (index * 1000) / perSecond);

const times = ({ starts }: Awaited<ReturnType<typeof runLimitedEndpoint>>) => starts.map(({ at }) => at);

/** Random arrivals, latencies and workers, from a seed. */
const models = fc
  .record({
    rate: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(100, 333, 1000)),
    overload: fc.double({ min: 0.2, max: 20, noNaN: true }),
    forSeconds: fc.integer({ min: 1, max: 20 }),
    workers: fc.integer({ min: 1, max: 6 }),
    skewMs: fc.integer({ min: 0, max: 50 }),
    slowest: fc.integer({ min: 0, max: 20_000 }),
    seed: fc.integer({ min: 1, max: 2 ** 31 - 2 }),
  })
  .map(({ rate, overload, forSeconds, slowest, seed, ...rest }): Model => {
    let state = seed;
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const count = Math.min(400, Math.max(1, Math.round(rate * overload * forSeconds)));
    const arrivals = Array.from({ length: count }, () => random() * forSeconds * 1000).sort((a, b) => a - b);
    return { rate, arrivals, random, latency: () => random() * random() * slowest, ...rest };
  });

describe('turns at an endpoint with a limit', () => {
  it('give no start twice and none sooner than an interval after another', async () => {
    await fc.assert(
      fc.asyncProperty(models, async (model) => {
        const run = await runLimitedEndpoint(model);
        const interval = computeIntervalMs(model.rate);
        for (const [index, at] of times(run).entries())
          if (index > 0) expect(at - (times(run)[index - 1] ?? 0)).toBeGreaterThan(interval - 0.01);
        expect(new Set(run.starts.map(({ index }) => index)).size).toBe(model.arrivals.length);
        // A start is never made up for after the tolerance, so any time `t` has `rate * (t + tolerance) + 1`.
        for (const { at, givenAt } of run.starts)
          expect(givenAt - at).toBeLessThan(computeToleranceMs(model.rate) + 2 * (model.skewMs ?? 0) + 2);
      }),
      { numRuns: casesOf(20, 60) },
    );
  });

  it.each([
    [1, 10, 20],
    [10, 100, 60],
    [100, 300, casesOf(5, 20)],
    [1000, 3000, casesOf(1, 3)],
  ])('use the whole limit of %i a second under %i events a second', async (rate, perSecond, forSeconds) => {
    const { starts, counts } = await runLimitedEndpoint({ rate, arrivals: steadily(perSecond, forSeconds) });
    const count = perSecond * forSeconds;

    expect((starts.at(-1)?.at ?? 0) - (starts[0]?.at ?? 0)).toBeLessThan(1.01 * (count / rate) * 1000);
    // In line, a delivery takes one more message, and one more if it is parked.
    expect(counts.messages).toBeLessThan(2.1 * count + counts.resumed);
    expect(counts.parked).toBeLessThan(1.05 * counts.resumed + 1);
  });

  it('are given at once, without a line, while there are fewer events than the limit allows', async () => {
    const { starts, counts } = await runLimitedEndpoint({ rate: 10, arrivals: steadily(9, 30) });

    expect(counts.messages).toBe(270);
    for (const { at, arrived } of starts) expect(at - arrived).toBeLessThan(1000);
  });

  it('keep the order of deliveries, also behind parked ones, but for seconds', async () => {
    // Half of them come while others are parked.
    const arrivals = [...steadily(40, 60), ...steadily(5, 240).map((at) => 5 * MINUTE + at)];
    const { starts, counts } = await runLimitedEndpoint({ rate: 5, arrivals });

    expect(counts.resumed).toBeGreaterThan(1000);
    let latest = 0;
    for (const { index } of starts) {
      expect(latest - index).toBeLessThan(5 * 10);
      latest = Math.max(latest, index);
    }
  });

  it('use the whole limit although a run of the reconciler is left out', async () => {
    const { starts } = await runLimitedEndpoint({
      rate: 5,
      arrivals: steadily(50, 60),
      isSkipped: (run) => run % 5 === 4,
    });
    expect((starts.at(-1)?.at ?? 0) - (starts[0]?.at ?? 0)).toBeLessThan(1.02 * 600_000);
  });

  it('come sooner within an hour after the limit was raised', async () => {
    const raised = 10 * MINUTE;
    const { endMs } = await runLimitedEndpoint({
      rate: 1,
      // Two hours of deliveries.
      arrivals: steadily(100, 72),
      rateAt: (ms) => (ms < raised ? 1 : 100),
    });
    expect(endMs).toBeLessThan(raised + 65 * MINUTE);
  });

  it('keep their place in a line that is longer than a delivery is parked at a time', async () => {
    const { starts } = await runLimitedEndpoint({ rate: 1, arrivals: steadily(100, 45) });

    let latest = 0;
    for (const { index } of starts) {
      expect(latest - index).toBeLessThan(20);
      latest = Math.max(latest, index);
    }
  });

  it('keep to a lowered limit from the next start on', async () => {
    const lowered = 20_000;
    const { starts } = await runLimitedEndpoint({
      rate: 50,
      arrivals: steadily(100, 30),
      rateAt: (ms) => (ms < lowered ? 50 : 5),
    });
    // Starts of the next second may have been given before.
    const after = starts.map(({ at }) => at).filter((at) => at > lowered + 1000);
    for (const [index, at] of after.entries())
      if (index > 0) expect(at - (after[index - 1] ?? 0)).toBeGreaterThan(199);
  });

  it('are not given while the schedule cannot be written, and all come later', async () => {
    const schedules = new MemoryRateSchedules();
    let calls = 0;
    const { starts, counts } = await runLimitedEndpoint({
      rate: 10,
      arrivals: steadily(20, 10),
      schedules: {
        async apply(...update) {
          calls += 1;
          if (calls < 60) throw new Error('the table throttles');
          return schedules.apply(...update);
        },
      },
    });
    expect(counts.failed).toBeGreaterThan(0);
    expect(starts).toHaveLength(200);
  });
});

describe('delivery that is to be parked for its turn', () => {
  /** A line that is longer than messages wait in queues, and a delivery that comes to it. */
  async function aLongLine(createdAt = NOW) {
    const endpoint = anEndpoint({ maxPerSecond: 1 });
    const deliveries = new MemoryDeliveries(new MemoryEndpoints());
    const log = recordedLog();
    const take = endpointTurns(
      { schedules: new MemoryRateSchedules(), deliveries, log, now: () => NOW },
      DEFAULT_GRACE_SECONDS,
    );
    const turns = async (count: number, at?: Date) => {
      const added = Array.from({ length: count }, () =>
        aDelivery({ webhookId: endpoint.id, orgId: endpoint.orgId, ...(at && { id: newId('dlv', at) }) }),
      );
      for (const delivery of added) await deliveries.add(delivery);
      const messages = added.map(toDeliveryMessage);
      const given = await Promise.all(
        messages.map((message) => take({ message, maxPerSecond: 1, lane: 'fresh' })),
      );
      return { added, given };
    };
    await turns(400);
    const { added, given } = await turns(1, createdAt);
    const [delivery] = added;
    if (delivery === undefined) throw new Error('a delivery was to be made');
    return { deliveries, log, take, delivery, turn: given[0], found: () => deliveries.present(delivery) };
  }

  it('keeps status and attempts, and is due a minute before its turn', async () => {
    const { deliveries, delivery, turn, found } = await aLongLine();
    // The first start is in the past by the tolerance.
    const resumedAt = later(NOW, seconds(400 - 60) - 100).toISOString();

    expect(turn).toEqual({ kind: 'wait', disposition: { kind: 'delete' } });
    expect(found()).toMatchObject({ status: 'pending', attempts: 0, parked: true, nextRetryAt: resumedAt });
    expect(deliveries.dueOf(delivery)).toEqual({ state: 'parked', dueAt: resumedAt });
  });

  it('ends as expired when it is 3 days old', async () => {
    const { turn, found, log } = await aLongLine(new Date(NOW.getTime() - EXPIRY_SECONDS * 1000 - 1));

    expect(turn).toEqual({ kind: 'wait', disposition: { kind: 'delete' } });
    expect(found()).toMatchObject({ status: 'skipped', terminalReason: 'expired' });
    expect(log.entries).toMatchObject([{ code: 'TURN_NEVER_CAME' }]);
  });

  it('is left to the worker that holds its lease', async () => {
    const endpoint = anEndpoint();
    const deliveries = new MemoryDeliveries(new MemoryEndpoints());
    const until = NOW.getTime() + 25_000;
    const delivery = aDelivery({ webhookId: endpoint.id, lease: { token: 'other', until } });
    await deliveries.add(delivery);

    expect(
      await deliveries.park(delivery, { turn: { at: until, rate: 1 }, resumedAt: NOW, now: NOW }),
    ).toEqual({ kind: 'leased', until: new Date(until) });
  });
});
