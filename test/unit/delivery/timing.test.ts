import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttemptClocks,
  DEFAULT_ATTEMPT_TIMEOUT_SECONDS,
  deriveAttemptClocks,
  findClockFaults,
} from '../../../functions/delivery/timing.ts';

const deadlines = fc.double({ min: 0.1, max: 60, noNaN: true });

describe('clocks of an attempt', () => {
  it('start with the ten seconds of a receiver', () => {
    expect(DEFAULT_ATTEMPT_TIMEOUT_SECONDS).toBe(10);
    expect(deriveAttemptClocks(DEFAULT_ATTEMPT_TIMEOUT_SECONDS).attempt).toBe(10);
  });

  it('are each longer than the one before, for every deadline', () => {
    fc.assert(
      fc.property(deadlines, (deadline) => {
        const { attempt, functionTimeout, lease, visibility } = deriveAttemptClocks(deadline);
        expect(attempt).toBe(deadline);
        expect(functionTimeout).toBeGreaterThanOrEqual(attempt + 10);
        expect(lease).toBeGreaterThan(functionTimeout);
        expect(visibility).toBeGreaterThan(lease);
      }),
    );
  });

  it('are whole seconds where AWS requires it', () => {
    fc.assert(
      fc.property(deadlines, (deadline) => {
        const { functionTimeout, visibility } = deriveAttemptClocks(deadline);
        expect([functionTimeout, visibility].every(Number.isInteger)).toBe(true);
        // The longest timeout of a Lambda function, and the longest visibility timeout of a queue.
        expect(functionTimeout).toBeLessThanOrEqual(900);
        expect(visibility).toBeLessThanOrEqual(43_200);
      }),
    );
  });

  it.each([0, 0.09, 60.1, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'reject a deadline of %d seconds',
    (deadline) => {
      expect(() => deriveAttemptClocks(deadline)).toThrow(RangeError);
    },
  );
});

describe('configured clocks', () => {
  const right = deriveAttemptClocks(DEFAULT_ATTEMPT_TIMEOUT_SECONDS);

  it('have no fault when they are the derived ones, for every deadline', () => {
    fc.assert(
      fc.property(deadlines, (deadline) => {
        expect(findClockFaults(deriveAttemptClocks(deadline))).toEqual([]);
      }),
    );
  });

  it.each<[string, Partial<AttemptClocks>, string[]]>([
    ['a function that ends with its attempt', { functionTimeout: 10 }, ['the attempt timeout (10 s)']],
    ['a function that ends before its attempt', { functionTimeout: 3 }, ['the attempt timeout (10 s)']],
    ['a lease that ends with its function', { lease: 20 }, ['the function timeout (20 s)']],
    ['a lease that ends before its function', { lease: 12 }, ['the function timeout (20 s)']],
    [
      'a queue visibility shorter than the task deadline',
      { visibility: 9 },
      ['the visibility timeout (9 s)'],
    ],
    [
      'a message that is visible again at the end of the lease',
      { visibility: 25 },
      ['the visibility timeout (25 s)'],
    ],
    [
      'several at once',
      { functionTimeout: 5, lease: 4, visibility: 3 },
      ['the attempt timeout (10 s)', 'the function timeout (5 s)', 'the visibility timeout (3 s)'],
    ],
    [
      'a missing clock',
      { lease: Number.NaN },
      ['shorter than the lease (NaN s)', 'the lease (NaN s) must be'],
    ],
  ])('report %s', (_what, wrong, faults) => {
    expect(findClockFaults({ ...right, ...wrong })).toEqual(
      faults.map((fault) => expect.stringContaining(fault)),
    );
  });
});
