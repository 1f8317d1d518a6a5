import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { computeNextCheck } from '../../../functions/delivery/reconcile.ts';
import { isExpired } from '../../../functions/delivery/rows.ts';
import { DEFAULT_GRACE_SECONDS, EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { recentTimes } from '../aws/arbitraries.ts';

const created = (time: Date) => ({ id: newId('dlv', time) });
const graces = fc.oneof(
  fc.constant(DEFAULT_GRACE_SECONDS),
  fc.double({ min: 0.5, max: 86_400, noNaN: true }),
);
const SIX_HOURS = 6 * 3600;

describe('next check of a resent delivery', () => {
  it('is after the grace period, and within six hours or the grace period', () => {
    fc.assert(
      fc.property(recentTimes, fc.nat({ max: EXPIRY_SECONDS }), graces, (birth, age, grace) => {
        const now = later(birth, seconds(age));
        const wait = (computeNextCheck(created(birth), now, grace).getTime() - now.getTime()) / 1000;
        expect(wait).toBeGreaterThanOrEqual(grace);
        expect(wait).toBeLessThanOrEqual(Math.max(grace, SIX_HOURS) + 0.001);
      }),
    );
  });

  it('is after the grace period when the delivery has a creation time in the future', () => {
    const early = later(NOW, -seconds(60));
    expect(computeNextCheck(created(NOW), early, 900)).toEqual(later(early, seconds(900)));
  });

  it('limits the number of resent messages of a delivery whose messages are all lost', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3600 }), (grace) => {
        let checks = 0;
        for (
          let now = later(NOW, seconds(grace));
          !isExpired(created(NOW), now);
          now = computeNextCheck(created(NOW), now, grace)
        )
          checks += 1;
        // The wait doubles up to six hours; from then on there are twelve of them in three days.
        expect(checks).toBeLessThanOrEqual(Math.ceil(Math.log2(SIX_HOURS / grace)) + 14);
      }),
    );
  });
});

describe('expiry of a delivery', () => {
  it('is three days after the creation time in its id', () => {
    expect(EXPIRY_SECONDS).toBe(3 * 24 * 3600);
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: -5_000, max: 5_000 }), (birth, around) => {
        const now = later(birth, seconds(EXPIRY_SECONDS) + around);
        expect(isExpired(created(birth), now)).toBe(around > 0);
      }),
    );
  });
});
