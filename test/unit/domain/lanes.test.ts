import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseFirstLane,
  chooseRetryLane,
  chooseWaitMode,
  findBetterLane,
  hasStalled,
  isPatient,
  isSlow,
  isStalled,
  LANES,
  LONGEST_QUEUED_WAIT_SECONDS,
} from '../../../functions/domain/lanes.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { recentTimes } from './arbitraries.ts';

const lanes = fc.constantFrom(...LANES);
const waits = fc.oneof(
  fc.double({ min: 0, max: 2 * LONGEST_QUEUED_WAIT_SECONDS, noNaN: true }),
  fc.integer({ min: LONGEST_QUEUED_WAIT_SECONDS - 1, max: LONGEST_QUEUED_WAIT_SECONDS + 1 }),
);

describe('wait mode', () => {
  it('is never a queue for more than the 15 minutes of SQS', () => {
    expect(LONGEST_QUEUED_WAIT_SECONDS).toBe(900);
    fc.assert(
      fc.property(waits, lanes, lanes, fc.boolean(), (wait, from, to, crowded) => {
        if (chooseWaitMode(wait, from, to, crowded) !== 'parked') expect(wait).toBeLessThanOrEqual(900);
      }),
    );
  });

  it('is parked when the queue is crowded, for any wait', () => {
    fc.assert(
      fc.property(waits, lanes, lanes, (wait, from, to) => {
        expect(chooseWaitMode(wait, from, to, true)).toBe('parked');
      }),
    );
  });

  it('is hidden in the same queue, and delayed in another one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 900 }), lanes, lanes, (wait, from, to) => {
        expect(chooseWaitMode(wait, from, to, false)).toBe(from === to ? 'hidden' : 'delayed');
      }),
    );
  });

  it.each([
    [900, 'hidden'],
    [900.001, 'parked'],
    [901, 'parked'],
  ] as const)('for %d seconds in one queue is %s', (wait, hold) => {
    expect(chooseWaitMode(wait, 'retry', 'retry', false)).toBe(hold);
  });
});

describe('slow endpoint', () => {
  it('is slow exactly until the end of its mark', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: -300_000, max: 300_000 }), (now, left) => {
        const endpoint = { slowUntil: later(now, left).toISOString() };
        expect(isSlow(endpoint, now)).toBe(left > 0);
        expect(chooseFirstLane(endpoint, now, false)).toBe(left > 0 ? 'slow' : 'fresh');
      }),
    );
  });

  it('is not one that is proven and was never marked', () => {
    expect(isSlow(anEndpoint(), NOW)).toBe(false);
    expect(chooseFirstLane(anEndpoint(), NOW, false)).toBe('fresh');
  });

  it('is one that is unproven, with any mark', () => {
    const unproven = anEndpoint({ unproven: true });
    expect(isSlow(unproven, NOW)).toBe(true);
    expect(chooseFirstLane(unproven, NOW, false)).toBe('slow');
    expect(isSlow({ ...unproven, slowUntil: later(NOW, -1).toISOString() }, NOW)).toBe(true);
  });

  it('returns to the fresh queue when its mark ends', () => {
    const endpoint = anEndpoint({ slowUntil: later(NOW, seconds(120)).toISOString() });
    expect(chooseFirstLane(endpoint, later(NOW, seconds(119)), false)).toBe('slow');
    expect(chooseFirstLane(endpoint, later(NOW, seconds(120)), false)).toBe('fresh');
  });
});

const paceClasses = fc.record({ slow: fc.boolean(), stalled: fc.boolean() });

describe('attempt', () => {
  it('has stalled when it ended at its deadline without an answer', () => {
    expect(hasStalled({}, 10.004, 10)).toBe(true);
    // Timers and clocks differ by some milliseconds.
    expect(hasStalled({}, 9.998, 10)).toBe(true);
    expect(hasStalled({}, 0.098, 0.1)).toBe(true);
  });

  it('has not stalled when there was any answer, even a late one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.double({ min: 0, max: 11, noNaN: true }),
        (status, took) => {
          expect(hasStalled({ status }, took, 10)).toBe(false);
        },
      ),
    );
  });

  it("has not stalled when it failed well before the deadline, or at a sandbox's higher speed", () => {
    expect(hasStalled({}, 9, 10)).toBe(false);
    expect(hasStalled({}, 0.01, 10)).toBe(false);
  });
});

describe('queue of a message', () => {
  const laneFor = (...[lane, ...rest]: Parameters<typeof findBetterLane>) =>
    findBetterLane(lane, ...rest) ?? lane;

  it('is the slow or stalled one of its endpoint, and otherwise unchanged', () => {
    fc.assert(
      fc.property(lanes, paceClasses, (lane, paceClass) => {
        const found = laneFor(lane, paceClass, false);
        if (paceClass.stalled || lane === 'stalled') expect(found).toBe('stalled');
        else if (paceClass.slow) expect(found).toBe('slow');
        else expect(found).toBe(lane);
      }),
    );
  });

  it('is final after one move while the endpoint does not change', () => {
    fc.assert(
      fc.property(lanes, paceClasses, fc.boolean(), (lane, paceClass, isAskedFor) => {
        const moved = laneFor(lane, paceClass, isAskedFor);
        expect(laneFor(moved, paceClass, isAskedFor)).toBe(moved);
      }),
    );
  });

  it('is not the stalled one for the first attempt of a delivery that a user has requested', () => {
    const stalled = { slow: false, stalled: true };
    expect(laneFor('fresh', stalled, true)).toBe('slow');
    expect(laneFor('slow', stalled, true)).toBe('slow');
    expect(laneFor('retry', stalled, true)).toBe('stalled');
  });

  it('of a retry is a patient one exactly for a slow or stalled endpoint', () => {
    fc.assert(
      fc.property(paceClasses, (paceClass) => {
        expect(isPatient(chooseRetryLane(paceClass))).toBe(paceClass.slow || paceClass.stalled);
        expect(chooseRetryLane(paceClass)).toBe(findBetterLane('retry', paceClass, false) ?? 'retry');
      }),
    );
  });
});

describe('stalled endpoint', () => {
  it('is stalled exactly until the end of its mark, slow or not', () => {
    fc.assert(
      fc.property(
        recentTimes,
        fc.integer({ min: -300_000, max: 300_000 }),
        fc.boolean(),
        (now, left, slow) => {
          const mark = later(now, left).toISOString();
          const endpoint = { stalledUntil: mark, ...(slow && { slowUntil: later(now, 1).toISOString() }) };
          expect(isStalled(endpoint, now)).toBe(left > 0);
          expect(chooseFirstLane(endpoint, now, false)).toBe(left > 0 ? 'stalled' : slow ? 'slow' : 'fresh');
        },
      ),
    );
  });

  it('is not one that was never marked or is gone', () => {
    expect(isStalled(anEndpoint(), NOW)).toBe(false);
    expect(isStalled(undefined, NOW)).toBe(false);
  });
});
