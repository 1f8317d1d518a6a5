import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fatesOf } from '../../../lib/cost/attempts.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });

describe('the outcomes of deliveries', () => {
  it('add up to all deliveries', () => {
    fc.assert(
      fc.property(share, (failure) => {
        const { succeededAtOnce, retried, exhausted } = fatesOf(failure);
        expect(succeededAtOnce + retried + exhausted).toBeCloseTo(1, 12);
      }),
    );
  });

  it('determine the number of attempts', () => {
    fc.assert(
      fc.property(share, (failure) => {
        const { attempts, succeededAtOnce, retried, exhausted, furtherFailures } = fatesOf(failure);
        expect(attempts).toBeCloseTo(succeededAtOnce + 2 * retried + furtherFailures + 8 * exhausted, 9);
      }),
    );
  });

  it('cause at most eight attempts, and one where nothing fails', () => {
    expect(fatesOf(0)).toMatchObject({
      attempts: 1,
      succeededAtOnce: 1,
      retried: 0,
      exhausted: 0,
      parkedWaits: 0,
    });
    expect(fatesOf(1)).toMatchObject({
      attempts: 8,
      succeededAtOnce: 0,
      retried: 0,
      exhausted: 1,
      parkedWaits: 2,
    });
  });
});
