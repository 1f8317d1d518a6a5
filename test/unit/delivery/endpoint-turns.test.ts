import { PATIENCE } from 'aws-local/test/patience.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../support/cases.ts';
import { type Model, runLimitedEndpoint } from './limited-endpoint-run.ts';

const MINUTE = 60_000;
/** How late an attempt may start (docs/specification.md, Limit of attempts). */
const LATE_MS = 2000;

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
  it('are an interval apart, one for each delivery, and used in time', async () => {
    await fc.assert(
      fc.asyncProperty(models, async (model) => {
        const run = await runLimitedEndpoint(model);
        for (const [index, at] of times(run).entries())
          if (index > 0) expect(at - (times(run)[index - 1] ?? 0)).toBeGreaterThan(1000 / model.rate - 0.01);
        expect(new Set(run.starts.map(({ index }) => index)).size).toBe(model.arrivals.length);
        for (const { at, startedAt, missed } of run.starts)
          expect(startedAt - at).toBeLessThan(LATE_MS * 4 ** missed + 2 * (model.skewMs ?? 0));
      }),
      { numRuns: casesOf(10, 60) },
    );
  });

  it.each([
    [1, 10, 20],
    [10, 100, casesOf(15, 60)],
    [100, 300, casesOf(5, 20)],
    [1000, 3000, casesOf(1, 3)],
  ])('use the whole limit of %i a second under %i events a second', async (rate, perSecond, forSeconds) => {
    const { starts, counts } = await runLimitedEndpoint({ rate, arrivals: steadily(perSecond, forSeconds) });
    const count = perSecond * forSeconds;

    expect((starts.at(-1)?.at ?? 0) - (starts[0]?.at ?? 0)).toBeLessThan(1.01 * (count / rate) * 1000);
    // A delivery that waits takes one more message.
    expect(counts.messages).toBeLessThan(2 * count);
    expect(counts.parked).toBe(counts.resumed);
    // In the order of the deliveries.
    expect(starts.map(({ index }) => index)).toEqual(starts.map((_, index) => index));
  });

  it('are given at once, without a wait, while there are fewer events than the limit allows', async () => {
    const { starts, counts } = await runLimitedEndpoint({ rate: 10, arrivals: steadily(9, 30) });

    expect(counts.messages).toBe(270);
    for (const { at, arrived } of starts) expect(at - arrived).toBeLessThan(1000);
  });

  it('are not used after a time in which nothing was received, so that the deliveries do not start at once', async () => {
    const [from, to] = [100_000, 220_000];
    const latency = (ms: number) => (ms > from && ms < to ? to - ms : 20);
    const { starts } = await runLimitedEndpoint({ rate: 5, arrivals: steadily(50, 30), latency });

    for (const { startedAt } of starts) {
      const soon = starts.filter(
        (other) => other.startedAt >= startedAt && other.startedAt < startedAt + 1000,
      );
      expect(soon.length).toBeLessThanOrEqual(5 * (1 + LATE_MS / 1000) + 1);
    }
  });

  it(
    'come sooner within an hour after the limit was raised',
    async () => {
      const raised = casesOf(1, 10) * MINUTE;
      const { endMs } = await runLimitedEndpoint({
        rate: 1,
        // More than an hour of deliveries, or two.
        arrivals: steadily(100, casesOf(43, 72)),
        rateAt: (ms) => (ms < raised ? 1 : 100),
      });
      expect(endMs).toBeLessThan(raised + 65 * MINUTE);
    },
    120_000 * PATIENCE,
  );

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
});
