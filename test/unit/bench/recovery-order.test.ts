import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countArrivals, measureDisorder } from '../../bench/recovery/order.ts';

const events = ['a', 'b', 'c', 'd', 'e'];

describe('the order of arrivals', () => {
  it('has no disorder when events arrive oldest first, also when some are missing', () => {
    fc.assert(
      fc.property(fc.subarray(events), (arrivals) => {
        expect(measureDisorder(events, arrivals)).toEqual({ p99: 0, most: 0 });
      }),
    );
  });

  it('is measured in positions among those that arrived', () => {
    expect(measureDisorder(events, ['a', 'c', 'b', 'e'])).toEqual({ p99: 1, most: 1 });
    expect(measureDisorder(events, ['e', 'b', 'c', 'd', 'a'])).toMatchObject({ most: 4 });
  });

  it('counts what is missing and what came again', () => {
    expect(countArrivals(events, ['b', 'a', 'b', 'b', 'd'])).toEqual({ missing: 2, doubles: 2 });
  });
});
