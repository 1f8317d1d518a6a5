import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escaped, plot, short } from '../../bench/report/plot.ts';

const panel = (title: string, ys: readonly number[], name = 'a line') => ({
  title,
  lines: [{ name, points: ys.map((y, index) => ({ x: 10 ** index, y })) }],
});

/** Of the dots, from left to right. */
const dots = (svg: string) =>
  [...svg.matchAll(/<circle cx="([^"]+)" cy="([^"]+)"/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));

describe('a plot', () => {
  it('draws equal values at one height, and sizes of equal ratio at equal distances', () => {
    const all = dots(plot('A title', [panel('A panel', [3, 3, 3])], 1));

    expect(new Set(all.map(({ y }) => y)).size).toBe(1);
    const [a, b, c] = all.map(({ x }) => x);
    expect((b ?? 0) - (a ?? 0)).toBeCloseTo((c ?? 0) - (b ?? 0), 0);
  });

  it('draws larger values higher, from 0', () => {
    const [low, high] = dots(plot('A title', [panel('A panel', [0, 8])], 1));

    expect(high?.y).toBeLessThan(low?.y ?? 0);
  });

  it('accepts a single size, and values of 0', () => {
    for (const ys of [[5], [0, 0], []])
      expect(plot('A title', [panel('A panel', ys)], 1)).not.toContain('NaN');
  });

  it('escapes names in its markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", 'a', ' ') }), (inside) => {
        const text = `§${inside}§`;
        const svg = plot(text, [panel(text, [1, 2], text)], 1);
        expect(svg.replaceAll(escaped(text), '')).toBe(plot('', [panel('', [1, 2], '')], 1));
        expect(escaped(text)).not.toMatch(/[<>"']/);
      }),
    );
  });

  it.each([
    [0, '0'],
    [2.5, '2.5'],
    [1000, '1000'],
    [100_000, '100k'],
    [1_000_000, '1M'],
  ])('writes %d as %s', (value, text) => {
    expect(short(value)).toBe(text);
  });
});
