import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Figure, figure } from '../../bench/figure.ts';
import { compare, verdictOf } from '../../bench/report/comparison.ts';

const aFigure = (values: number | number[], options: Partial<Parameters<typeof figure>[3]> = {}): Figure =>
  figure('a subject', 'a measure', values, { unit: 'ms', ...options });

const aReport = (figures: readonly Figure[], name = 'limit') => ({
  sections: [{ name, seconds: 1, blocks: [{ title: 'A block', figures: [...figures] }] }],
});

describe('the verdict on a change', () => {
  it.each([
    ['a decrease where less is better', 'less', [20, 21, 22], [7, 8, 9], 'better'],
    ['an increase where less is better', 'less', [7, 8, 9], [20, 21, 22], 'worse'],
    ['an increase where more is better', 'more', [7, 8, 9], [20, 21, 22], 'better'],
    ['a decrease where more is better', 'more', [20, 21, 22], [7, 8, 9], 'worse'],
    ['a difference that is neither', 'neither', [20, 21, 22], [7, 8, 9], 'other'],
    ['a difference within what runs are apart', 'less', [10, 12, 14], [9, 11, 13], 'same'],
    ['a difference that two reports of one checkout may have', 'less', [10, 11, 12], [7, 8, 9], 'same'],
    ['no difference', 'less', [1, 1, 1], [1, 1, 1], 'same'],
  ] as const)('on %s', (_, better, before, now, verdict) => {
    expect(verdictOf(aFigure([...before], { better }), aFigure([...now], { better }))).toBe(verdict);
  });

  it('is none where a time has only one run', () => {
    expect(verdictOf(aFigure(10), aFigure(5))).toBe('unclear');
    expect(verdictOf(aFigure([10, 10]), aFigure(5))).toBe('unclear');
  });

  it('exists where something was counted, regardless of the number of runs', () => {
    expect(
      verdictOf(aFigure(6, { unit: 'units', exact: true }), aFigure(5, { unit: 'units', exact: true })),
    ).toBe('better');
  });

  it('is reversed when the two change places', () => {
    const opposite = { better: 'worse', worse: 'better', same: 'same', unclear: 'unclear', other: 'other' };
    const runs = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 9 });
    fc.assert(
      fc.property(runs, runs, (a, b) => {
        const [first, second] = [aFigure(a), aFigure(b)];
        // The spread of the other run may be smaller, so a tie need not remain first.
        fc.pre(
          Math.abs(Math.abs(first.median - second.median) - 2 * (first.spread.value + second.spread.value)) >
            1,
        );
        expect(verdictOf(second, first)).toBe(opposite[verdictOf(first, second)]);
      }),
    );
  });
});

describe('the comparison of two reports', () => {
  it('returns the ratio of both for each common figure, in any order', () => {
    const other = figure('another', 'a measure', [1, 1], { unit: 'x' });
    const changes = compare(aReport([aFigure([10, 10]), other]), aReport([other, aFigure([5, 5])]));

    expect(changes.map(({ name, ratio }) => [name, ratio])).toEqual([
      ['limit / another / a measure', 1],
      ['limit / a subject / a measure', 0.5],
    ]);
  });

  it('omits figures that only one of them has, or in another unit', () => {
    expect(compare(aReport([aFigure(1)], 'limit'), aReport([aFigure(1)], 'growth'))).toEqual([]);
    expect(compare(aReport([aFigure(1)]), aReport([aFigure(1, { unit: 's' })]))).toEqual([]);
  });

  it('treats zero and zero as unchanged', () => {
    const [change] = compare(aReport([aFigure(0, { exact: true })]), aReport([aFigure(0, { exact: true })]));

    expect(change).toMatchObject({ ratio: 1, verdict: 'same' });
  });
});
