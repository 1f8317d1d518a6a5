import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptClocks, DEFAULT_ATTEMPT_TIMEOUT_SECONDS } from '../../../functions/domain/timing.ts';

const deadlines = fc.double({ min: 0.1, max: 60, noNaN: true });

describe('the clocks of an attempt', () => {
  it('begin with the ten seconds that a receiver has', () => {
    expect(DEFAULT_ATTEMPT_TIMEOUT_SECONDS).toBe(10);
    expect(attemptClocks(DEFAULT_ATTEMPT_TIMEOUT_SECONDS).attempt).toBe(10);
  });

  it('each outlast the one before, for every deadline', () => {
    fc.assert(
      fc.property(deadlines, (deadline) => {
        const { attempt, functionTimeout, lease, visibility } = attemptClocks(deadline);
        expect(attempt).toBe(deadline);
        expect(functionTimeout).toBeGreaterThanOrEqual(attempt + 10);
        expect(lease).toBeGreaterThan(functionTimeout);
        expect(visibility).toBeGreaterThan(lease);
      }),
    );
  });

  it('are whole seconds where the platform counts these', () => {
    fc.assert(
      fc.property(deadlines, (deadline) => {
        const { functionTimeout, visibility } = attemptClocks(deadline);
        expect([functionTimeout, visibility].every(Number.isInteger)).toBe(true);
        // The longest timeout of a Lambda function, and the longest visibility timeout of a queue.
        expect(functionTimeout).toBeLessThanOrEqual(900);
        expect(visibility).toBeLessThanOrEqual(43_200);
      }),
    );
  });

  it.each([0, 0.09, 60.1, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuse a deadline of %d seconds',
    (deadline) => {
      expect(() => attemptClocks(deadline)).toThrow(RangeError);
    },
  );
});
