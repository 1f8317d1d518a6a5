import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { median, quantile, spreadOf } from '../../support/statistics.ts';

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 60 });
const share = fc.double({ min: 0, max: 1, noNaN: true });

describe('a quantile', () => {
  it('is the value of the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

    expect([0, 0.5, 0.9, 0.99, 0.999, 1].map((one) => quantile(hundred, one))).toEqual([
      1, 50, 90, 99, 100, 100,
    ]);
  });

  it('is one of the values, with the right share at or below it', () => {
    fc.assert(
      fc.property(values, share, (all, share) => {
        const result = quantile(all, share);
        expect(all).toContain(result);
        expect(all.filter((value) => value <= result).length).toBeGreaterThanOrEqual(share * all.length);
        expect(all.filter((value) => value < result).length).toBeLessThanOrEqual(share * all.length);
      }),
    );
  });
});

describe('the median', () => {
  it.each([
    [[3], 3],
    [[4, 1], 2.5],
    [[9, 1, 5], 5],
    [[1, 100, 3, 2], 2.5],
  ])('of %j is %d', (all, middle) => {
    expect(median(all)).toBe(middle);
  });
});

describe('the spread', () => {
  it('of one run is 0', () => {
    expect(spreadOf([7])).toBe(0);
  });

  it('of two or three runs is half of their range', () => {
    expect(spreadOf([4, 1])).toBe(1.5);
    expect(spreadOf([4, 1, 2])).toBe(1.5);
  });

  it('of more runs is half the interquartile range, which one outlier changes little', () => {
    expect(spreadOf([1, 2, 3, 4, 5])).toBe(1);
    expect(spreadOf([1, 2, 3, 4, 1000])).toBe(1);
  });
});
