import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Clock, openLoop } from '../../bench/measure/open-loop.ts';

/** A clock that advances only to the earliest time that is waited for. */
function steppedClock(): Clock & {
  at(time: number, act: () => void): void;
  stall(milliseconds: number): void;
} {
  let now = 1000;
  const waiting: { time: number; act: () => void }[] = [];
  const at = (time: number, act: () => void) => {
    waiting.push({ time, act });
    waiting.sort((a, b) => a.time - b.time);
    setImmediate(() => {
      const next = waiting.shift();
      if (next === undefined) return;
      now = Math.max(now, next.time);
      next.act();
    });
  };
  return {
    now: () => now,
    until: (time) => new Promise((resolve) => at(time, resolve)),
    at,
    stall: (milliseconds) => {
      now += milliseconds;
    },
  };
}

/** A target that answers after a millisecond, except between two times. */
const targetWithPause =
  (clock: ReturnType<typeof steppedClock>, pause: { from: number; to: number }) => (): Promise<string> =>
    new Promise((resolve) => {
      const now = clock.now();
      const ready = now >= pause.from && now < pause.to ? pause.to : now;
      clock.at(ready + 1, () => resolve('answered'));
    });

describe('an open loop', () => {
  it('stops when its signal aborts, and returns the calls so far', async () => {
    const clock = steppedClock();
    const stopping = new AbortController();

    const sent = await openLoop(
      { perSecond: 100, count: Number.POSITIVE_INFINITY, clock, signal: stopping.signal },
      async (number) => {
        if (number === 2) stopping.abort();
      },
    );

    expect(sent.map(({ intendedAt }) => intendedAt)).toEqual([1000, 1010, 1020]);
  });

  it('continues while a target pauses, so that every call of that time shows the pause', async () => {
    const clock = steppedClock();
    const pause = { from: 1100, to: 1600 };

    const sent = await openLoop({ perSecond: 100, count: 100, clock }, targetWithPause(clock, pause));

    // A loop that waits for answers would have counted the pause once.
    const seen = sent.filter(({ intendedAt }) => intendedAt >= pause.from && intendedAt < pause.to);
    expect(seen).toHaveLength(50);
    for (const { intendedAt, answeredAt } of sent)
      expect(answeredAt - intendedAt).toBe(
        intendedAt >= pause.from && intendedAt < pause.to ? pause.to - intendedAt + 1 : 1,
      );
  });

  it('measures from when a call should have been sent, also when the sender itself paused', async () => {
    const clock = steppedClock();

    const sent = await openLoop({ perSecond: 100, count: 10, clock }, async (number) => {
      if (number === 4) clock.stall(35);
    });

    const latencies = sent.map(({ answeredAt, intendedAt }) => answeredAt - intendedAt);
    expect(latencies).toEqual([0, 0, 0, 0, 35, 25, 15, 5, 0, 0]);
  });

  it('returns each call with its result, in order, at any rate', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2000 }),
        fc.integer({ min: 0, max: 40 }),
        async (perSecond, count) => {
          const sent = await openLoop({ perSecond, count, clock: steppedClock() }, async (number) => number);
          expect(sent.map(({ result }) => result)).toEqual(
            Array.from({ length: count }, (_, index) => index),
          );
          for (const [index, { intendedAt }] of sent.entries())
            expect(intendedAt).toBeCloseTo(1000 + (index * 1000) / perSecond, 6);
        },
      ),
      { numRuns: 30 },
    );
  });
});
