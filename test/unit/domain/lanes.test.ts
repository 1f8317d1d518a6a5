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

describe('where a wait is held', () => {
  it('is never a queue for more than the 15 minutes that SQS holds a message back', () => {
    expect(LONGEST_QUEUED_WAIT_SECONDS).toBe(900);
    fc.assert(
      fc.property(waits, lanes, lanes, fc.boolean(), (wait, from, to, crowded) => {
        if (chooseWaitMode(wait, from, to, crowded) !== 'parked') expect(wait).toBeLessThanOrEqual(900);
      }),
    );
  });

  it('is never the queue when its lane is crowded, however short the wait is', () => {
    fc.assert(
      fc.property(waits, lanes, lanes, (wait, from, to) => {
        expect(chooseWaitMode(wait, from, to, true)).toBe('parked');
      }),
    );
  });

  it('is the message itself where it stays in its lane, and a new one where it changes lanes', () => {
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
  ] as const)('for %d seconds in one lane is: %s', (wait, hold) => {
    expect(chooseWaitMode(wait, 'retry', 'retry', false)).toBe(hold);
  });
});

describe('a slow endpoint', () => {
  it('is slow until the end of its mark and not a millisecond longer', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: -300_000, max: 300_000 }), (now, left) => {
        const endpoint = { slowUntil: later(now, left).toISOString() };
        expect(isSlow(endpoint, now)).toBe(left > 0);
        expect(chooseFirstLane(endpoint, now, false)).toBe(left > 0 ? 'slow' : 'fresh');
      }),
    );
  });

  it('is none that is proven and was never marked', () => {
    expect(isSlow(anEndpoint(), NOW)).toBe(false);
    expect(chooseFirstLane(anEndpoint(), NOW, false)).toBe('fresh');
  });

  it('is one that is unproven, whatever its mark says', () => {
    const unproven = anEndpoint({ unproven: true });
    expect(isSlow(unproven, NOW)).toBe(true);
    expect(chooseFirstLane(unproven, NOW, false)).toBe('slow');
    expect(isSlow({ ...unproven, slowUntil: later(NOW, -1).toISOString() }, NOW)).toBe(true);
  });

  it('comes back to the fast lanes by itself', () => {
    const endpoint = anEndpoint({ slowUntil: later(NOW, seconds(120)).toISOString() });
    expect(chooseFirstLane(endpoint, later(NOW, seconds(119)), false)).toBe('slow');
    expect(chooseFirstLane(endpoint, later(NOW, seconds(120)), false)).toBe('fresh');
  });
});

const manners = fc.record({ slow: fc.boolean(), stalled: fc.boolean() });

describe('an attempt', () => {
  it('has stalled when it ended at its deadline without an answer', () => {
    expect(hasStalled({}, 10.004, 10)).toBe(true);
    // Timers and clocks differ by some milliseconds.
    expect(hasStalled({}, 9.998, 10)).toBe(true);
    expect(hasStalled({}, 0.098, 0.1)).toBe(true);
  });

  it('has not when there was an answer, however late and whatever it said', () => {
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

  it('has not when it failed well before the deadline, or where a sandbox lets time pass faster', () => {
    expect(hasStalled({}, 9, 10)).toBe(false);
    expect(hasStalled({}, 0.01, 10)).toBe(false);
  });
});

describe('the lane of a message', () => {
  const laneFor = (...[lane, ...rest]: Parameters<typeof findBetterLane>) =>
    findBetterLane(lane, ...rest) ?? lane;

  it('is the slow or the stalled one as its endpoint is, and stays what it is when the endpoint keeps nobody waiting', () => {
    fc.assert(
      fc.property(lanes, manners, (lane, manner) => {
        const found = laneFor(lane, manner, false);
        if (manner.stalled || lane === 'stalled') expect(found).toBe('stalled');
        else if (manner.slow) expect(found).toBe('slow');
        else expect(found).toBe(lane);
      }),
    );
  });

  it('is reached within two moves while the endpoint stays as it is', () => {
    fc.assert(
      fc.property(lanes, manners, fc.boolean(), (lane, manner, isAskedFor) => {
        const moved = laneFor(lane, manner, isAskedFor);
        expect(laneFor(moved, manner, isAskedFor)).toBe(moved);
      }),
    );
  });

  it('is not the stalled one for the first attempt of what a person waits for', () => {
    const stalled = { slow: false, stalled: true };
    expect(laneFor('fresh', stalled, true)).toBe('slow');
    expect(laneFor('slow', stalled, true)).toBe('slow');
    expect(laneFor('retry', stalled, true)).toBe('stalled');
  });

  it('is one that waits for the endpoint where it keeps workers waiting', () => {
    fc.assert(
      fc.property(manners, (manner) => {
        expect(isPatient(chooseRetryLane(manner))).toBe(manner.slow || manner.stalled);
        expect(chooseRetryLane(manner)).toBe(findBetterLane('retry', manner, false) ?? 'retry');
      }),
    );
  });
});

describe('a stalled endpoint', () => {
  it('is stalled until the end of its mark and not a millisecond longer, whether it is slow as well or not', () => {
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

  it('is none that was never marked, nor one that is gone', () => {
    expect(isStalled(anEndpoint(), NOW)).toBe(false);
    expect(isStalled(undefined, NOW)).toBe(false);
  });
});
