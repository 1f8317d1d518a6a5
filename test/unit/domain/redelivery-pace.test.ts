import { describe, expect, it } from 'vitest';
import { computeRedeliveryGroup, LANE_TABLE, LARGEST_GROUP } from '../../../functions/domain/lanes.ts';
import { createPace } from '../../../functions/domain/redelivery-pace.ts';

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
    expect(learn(createPace(LARGEST_GROUP), 7, () => 0.2)).toEqual([1, 2, 4, 8, 16, 16, 16]);
  });

  it('returns to the smaller group when a larger one takes twice as long', () => {
    // Two of a group are processed at once.
    expect(learn(createPace(LARGEST_GROUP), 6, (count) => 0.1 * Math.ceil(count / 2))).toEqual([
      1, 2, 4, 2, 2, 2,
    ]);
  });

  it('begins a round with half of the last round’s group', () => {
    expect(learn(createPace(LARGEST_GROUP, 8), 4, (count) => 0.1 * Math.ceil(count / 8))).toEqual([
      4, 8, 16, 8,
    ]);
    expect(createPace(LARGEST_GROUP, LARGEST_GROUP * 8).atOnce).toBe(LARGEST_GROUP / 2);
    expect(createPace(3, 16).atOnce).toBe(2);
  });

  it('grows to the largest allowed group and no further', () => {
    expect(learn(createPace(3), 4, () => 0.2)).toEqual([1, 2, 3, 3]);
    expect(learn(createPace(1), 2, () => 0.2)).toEqual([1, 1]);
  });

  it('returns from the largest allowed group when it is hardly faster than a smaller one', () => {
    // Two of a group are processed at once.
    expect(learn(createPace(3), 4, (count) => 0.1 * Math.ceil(count / 2))).toEqual([1, 2, 3, 2]);
  });

  it('becomes slower with a receiver that becomes slower', () => {
    const pace = createPace(LARGEST_GROUP, 16);
    learn(pace, 3, () => 0.2);
    expect(pace.atOnce).toBe(16);
    expect(learn(pace, 2, () => 2)).toEqual([16, 8]);
  });

  it('learns nothing from the rest of a page', () => {
    const pace = createPace(LARGEST_GROUP);
    learn(pace, 3, () => 0.2);
    pace.learn(2, 60);
    expect(pace.atOnce).toBe(8);
  });
});

describe('most deliveries of a job at a time', () => {
  it('are half the batches of the slow queue, at least one and at most 16', () => {
    const { dev, staging, prod } = LANE_TABLE.slow.dispatchers;

    expect([dev, staging, prod].map(computeRedeliveryGroup)).toEqual([5, 8, 16]);
    expect([1, 2, 5, 1000].map(computeRedeliveryGroup)).toEqual([1, 1, 2, LARGEST_GROUP]);
  });
});
