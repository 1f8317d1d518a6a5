import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstLaneOf,
  holdOf,
  isSlow,
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
        if (holdOf(wait, from, to, crowded) !== 'parked') expect(wait).toBeLessThanOrEqual(900);
      }),
    );
  });

  it('is never the queue when its lane is crowded, however short the wait is', () => {
    fc.assert(
      fc.property(waits, lanes, lanes, (wait, from, to) => {
        expect(holdOf(wait, from, to, true)).toBe('parked');
      }),
    );
  });

  it('is the message itself where it stays in its lane, and a new one where it changes lanes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 900 }), lanes, lanes, (wait, from, to) => {
        expect(holdOf(wait, from, to, false)).toBe(from === to ? 'hidden' : 'delayed');
      }),
    );
  });

  it.each([
    [900, 'hidden'],
    [900.001, 'parked'],
    [901, 'parked'],
  ] as const)('for %d seconds in one lane is: %s', (wait, hold) => {
    expect(holdOf(wait, 'retry', 'retry', false)).toBe(hold);
  });
});

describe('a slow endpoint', () => {
  it('is slow until the end of its mark and not a millisecond longer', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: -300_000, max: 300_000 }), (now, left) => {
        const endpoint = { slowUntil: later(now, left).toISOString() };
        expect(isSlow(endpoint, now)).toBe(left > 0);
        expect(firstLaneOf(endpoint, now)).toBe(left > 0 ? 'slow' : 'fresh');
      }),
    );
  });

  it('is none that was never marked, nor one that is gone', () => {
    expect(isSlow(anEndpoint(), NOW)).toBe(false);
    expect(isSlow(undefined, NOW)).toBe(false);
    expect(firstLaneOf(anEndpoint(), NOW)).toBe('fresh');
  });

  it('comes back to the fast lanes by itself', () => {
    const endpoint = anEndpoint({ slowUntil: later(NOW, seconds(120)).toISOString() });
    expect(firstLaneOf(endpoint, later(NOW, seconds(119)))).toBe('slow');
    expect(firstLaneOf(endpoint, later(NOW, seconds(120)))).toBe('fresh');
  });
});
