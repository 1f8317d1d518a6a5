import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { throttle, unthrottled } from '../../../src/gateway/throttle.ts';

const at = (seconds: number) => new Date(seconds * 1000);
const limits = fc.record({ rate: fc.integer({ min: 1, max: 100 }), burst: fc.integer({ min: 1, max: 100 }) });
const instants = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 300 });

describe('a throttle', () => {
  it('permits a burst at once, and then requests at its rate', () => {
    const takes = throttle({ rate: 2, burst: 3 });
    expect([0, 0, 0, 0].map((second) => takes(at(second)))).toEqual([true, true, true, false]);
    expect([1, 1, 1].map((second) => takes(at(second)))).toEqual([true, true, false]);
    expect([1.4, 1.5, 1.6].map((second) => takes(at(second)))).toEqual([false, true, false]);
    expect([60, 60, 60, 60].map((second) => takes(at(second)))).toEqual([true, true, true, false]);
  });

  it('never permits more than burst and rate, over any time', () => {
    fc.assert(
      fc.property(limits, instants, ({ rate, burst }, seconds) => {
        const takes = throttle({ rate, burst });
        const times = seconds.toSorted((a, b) => a - b);
        const taken = times.filter((second) => takes(at(second)));
        const [first = 0] = times;
        for (const [index, second] of taken.entries())
          expect(index + 1).toBeLessThanOrEqual(burst + (second - first) * rate + 1e-6);
      }),
    );
  });

  it('refuses no request below the rate', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 200 }), ({ rate, burst }, requests) => {
        const takes = throttle({ rate, burst });
        for (let index = 0; index < requests; index += 1)
          expect(takes(new Date(Math.ceil((index * 1000) / rate) + index))).toBe(true);
      }),
    );
  });

  it('tolerates a clock that is set back', () => {
    const takes = throttle({ rate: 1, burst: 1 });
    expect([5, 3, 4.5].map((second) => takes(at(second)))).toEqual([true, false, true]);
  });

  it('is absent where the stage sets none', () => {
    expect(unthrottled(at(0))).toBe(true);
  });
});
