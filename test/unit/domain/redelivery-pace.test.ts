import { describe, expect, it } from 'vitest';
import { createPace, MOST_AT_ONCE } from '../../../functions/domain/redelivery-pace.ts';

/** Lets a pace learn from groups. @param secondsOf the time that a group of so many takes */
function learn(pace: ReturnType<typeof createPace>, groups: number, secondsOf: (count: number) => number) {
  const sizes: number[] = [];
  for (let group = 0; group < groups; group += 1) {
    sizes.push(pace.atOnce);
    pace.learn(pace.atOnce, secondsOf(pace.atOnce));
  }
  return sizes;
}

describe('pace of a redelivery job', () => {
  it('doubles as long as larger groups take no longer', () => {
    expect(learn(createPace(), 7, () => 0.2)).toEqual([1, 2, 4, 8, 16, 16, 16]);
  });

  it('returns to the smaller group when a larger one takes twice as long', () => {
    // Two of a group are processed at once.
    expect(learn(createPace(), 6, (count) => 0.1 * Math.ceil(count / 2))).toEqual([1, 2, 4, 2, 2, 2]);
  });

  it('begins a round with half of the last round’s group', () => {
    expect(learn(createPace(8), 4, (count) => 0.1 * Math.ceil(count / 8))).toEqual([4, 8, 16, 8]);
    expect(createPace(MOST_AT_ONCE * 8).atOnce).toBe(MOST_AT_ONCE / 2);
  });

  it('becomes slower with a receiver that becomes slower', () => {
    const pace = createPace(16);
    learn(pace, 3, () => 0.2);
    expect(pace.atOnce).toBe(16);
    expect(learn(pace, 2, () => 2)).toEqual([16, 8]);
  });

  it('learns nothing from the rest of a page', () => {
    const pace = createPace();
    learn(pace, 3, () => 0.2);
    pace.learn(2, 60);
    expect(pace.atOnce).toBe(8);
  });
});
