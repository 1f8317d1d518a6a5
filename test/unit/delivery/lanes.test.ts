import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timedOutAfter } from '../../../functions/delivery/delivery.ts';
import {
  attemptsAllAtOnce,
  chooseFirstLane,
  chooseRetryLane,
  chooseWaitMode,
  type FirstLane,
  findBetterLane,
  LANES,
} from '../../../functions/delivery/lanes.ts';
import { computeSettlement, decideDisposition } from '../../../functions/delivery/settle.ts';
import { DEFAULT_RETRY_POLICY } from '../../../functions/delivery/timing.ts';
import { computePace, hasStalled, type Pace, type PaceMark } from '../../../functions/receivers/pace.ts';
import { later, NOW, seconds } from '../../builders.ts';

const lanes = fc.constantFrom(...LANES);

describe('wait mode', () => {
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

const paces = fc.constantFrom<Pace>('fast', 'slow', 'stalled');

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
      fc.property(lanes, paces, (lane, pace) => {
        const chosen = laneFor(lane, pace, false);
        if (pace === 'stalled' || lane === 'stalled') expect(chosen).toBe('stalled');
        else if (pace === 'slow') expect(chosen).toBe('slow');
        else expect(chosen).toBe(lane);
      }),
    );
  });

  it('is final after one move while the endpoint does not change', () => {
    fc.assert(
      fc.property(lanes, paces, fc.boolean(), (lane, pace, isAskedFor) => {
        const moved = laneFor(lane, pace, isAskedFor);
        expect(laneFor(moved, pace, isAskedFor)).toBe(moved);
      }),
    );
  });

  it('is not the stalled one for the first attempt of a delivery that a user has requested', () => {
    const stalled = 'stalled';
    expect(laneFor('fresh', stalled, true)).toBe('slow');
    expect(laneFor('slow', stalled, true)).toBe('slow');
    expect(laneFor('retry', stalled, true)).toBe('stalled');
  });

  it('of a retry is a patient one exactly for a slow or stalled endpoint', () => {
    fc.assert(
      fc.property(paces, (pace) => {
        expect(attemptsAllAtOnce(chooseRetryLane(pace))).toBe(pace !== 'fast');
        expect(chooseRetryLane(pace)).toBe(findBetterLane('retry', pace, false) ?? 'retry');
      }),
    );
  });
});

describe('first queue', () => {
  it.each<[mark: PaceMark | undefined, Pace, FirstLane]>([
    [undefined, 'fast', 'fresh'],
    [{ is: 'new' }, 'slow', 'slow'],
    [{ is: 'slow', until: later(NOW, 1).toISOString() }, 'slow', 'slow'],
    // Only a fast answer ends a mark.
    [{ is: 'slow', until: NOW.toISOString() }, 'slow', 'slow'],
    [{ is: 'stalled', until: later(NOW, 1).toISOString() }, 'stalled', 'stalled'],
    [{ is: 'stalled', until: NOW.toISOString() }, 'slow', 'slow'],
  ])('of an endpoint with the mark %j, which is %s, is %s', (mark, pace, lane) => {
    expect(computePace(mark, NOW)).toBe(pace);
    expect(chooseFirstLane(pace, false)).toBe(lane);
  });
});

const FAILED = { startedAt: NOW, endedAt: later(NOW, seconds(2)), ...timedOutAfter(2000) };

/** The settlement of a failed attempt that is not the last. */
function retryAfter(number: number, route: Parameters<typeof computeSettlement>[3]) {
  const settlement = computeSettlement(number, FAILED, DEFAULT_RETRY_POLICY, route);
  if (settlement.kind !== 'retrying') throw new Error('another attempt was to come');
  return settlement;
}

describe('wait for the next attempt', () => {
  it('is in the queue for the first five retries, and parked for the two long ones', () => {
    const holds = Array.from(
      { length: 7 },
      (_, index) => retryAfter(index + 1, { from: 'retry', to: 'retry', crowded: false }).wait.hold,
    );
    expect(holds).toEqual(['hidden', 'hidden', 'hidden', 'hidden', 'hidden', 'parked', 'parked']);
  });
});

describe('disposition of a message whose delivery', () => {
  const at = later(NOW, seconds(30));
  const attempt = { number: 1, startedAt: NOW.toISOString(), durationMs: 0, ...timedOutAfter(0) };
  const retrying = { kind: 'retrying', attempt, at: NOW, nextRetryAt: at } as const;

  it.each([
    ['is absent', { kind: 'absent' }, { kind: 'delete' }],
    ['has ended', { kind: 'terminal' }, { kind: 'delete' }],
    ['succeeded', { kind: 'succeeded', attempt, at }, { kind: 'delete' }],
    ['is exhausted', { kind: 'exhausted', attempt, at, terminalReason: 'max_attempts' }, { kind: 'delete' }],
    ['is leased', { kind: 'leased', until: at }, { kind: 'keep', until: at }],
    ['is not due', { kind: 'not-due', at, parked: false }, { kind: 'keep', until: at }],
    ['is parked', { kind: 'not-due', at, parked: true }, { kind: 'delete' }],
    [
      'waits in its lane',
      { ...retrying, wait: { hold: 'hidden', lane: 'retry' } },
      { kind: 'keep', until: at },
    ],
    [
      'waits in another lane',
      { ...retrying, wait: { hold: 'delayed', lane: 'slow' } },
      { kind: 'move', lane: 'slow', until: at },
    ],
    ['waits in the due index', { ...retrying, wait: { hold: 'parked', lane: 'retry' } }, { kind: 'delete' }],
  ] as const)('%s matches the outcome', (_what, outcome, disposition) => {
    expect(decideDisposition(outcome)).toEqual(disposition);
  });
});
