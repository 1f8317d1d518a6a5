import { stripVTControlCharacters } from 'node:util';
import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { figure } from '../../bench/figure.ts';
import { compare } from '../../bench/report/comparison.ts';
import type { BenchDocument } from '../../bench/report/document.ts';
import { renderBlock, renderComparison, short } from '../../bench/report/table.ts';

const aDocument = (value: number): BenchDocument => ({
  version: 1,
  begunAt: '2026-01-02T03:04:05.000Z',
  endedAt: '2026-01-02T03:05:05.000Z',
  commit: '0123456789ab',
  machine: { cpus: 2, model: 'A model', memoryMiB: 1, node: 'v24', load: { atBeginning: 0, atEnd: 0 } },
  arguments: [],
  sections: [
    {
      name: 'limit',
      seconds: 1,
      blocks: [{ title: 'A', figures: [figure('batches', 'ratio', [value, value, value], { unit: 'x' })] }],
    },
  ],
});

describe('a table', () => {
  it('has a row for each subject and a column for each measure, with units and spreads', () => {
    const figures = [
      figure('first', 'time', [1, 2, 3], { unit: 'ms' }),
      figure('first', 'units', 6, { unit: 'units', exact: true }),
      figure('second', 'time', [10.123, 10.123], { unit: 'ms' }),
    ];

    expect(renderBlock({ title: 'A title', figures, notes: ['A note.'] }, plain).split('\n')).toEqual([
      '  A title',
      '',
      '             time  units',
      '               ms',
      '  first      2 ±1      6',
      '  second  10.1',
      '  A note.',
      '',
    ]);
  });

  it('is no wider than a terminal, with any number of measures', () => {
    const figures = Array.from({ length: 40 }, (_, index) =>
      figure('a subject', `measure ${index}`, 1, { unit: 'ms' }),
    );

    const lines = renderBlock({ title: 'A title', figures }, plain).split('\n');

    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
    for (const { measure } of figures) expect(lines.join('\n')).toContain(measure);
  });

  it('aligns coloured cells like others', () => {
    const block = {
      title: 'A title',
      figures: [figure('first', 'time', [1, 2, 3], { unit: 'ms' as const })],
    };

    expect(stripVTControlCharacters(renderBlock(block, (_, text) => `\u001B[2m${text}\u001B[22m`))).toBe(
      renderBlock(block, plain),
    );
  });

  it.each([
    [0, '0'],
    [0.01234, '0.0123'],
    [12.345, '12.3'],
    [123.45, '123'],
    [12_345, '12,345'],
    [Number.NaN, '-'],
  ])('writes %d as %s', (value, text) => {
    expect(short(value)).toBe(text);
  });
});

describe('a comparison', () => {
  it('shows changes with their ratio, and the number of unchanged figures', () => {
    const changes = compare(aDocument(2), aDocument(3));

    const text = renderComparison(changes, aDocument(2), plain);

    expect(text).toContain('Compared with 0123456789ab');
    expect(text).toMatch(/limit \/ batches \/ ratio +2 → 3 +x 1\.50 {2}worse/);
    expect(text).toContain('0 of 1 figures are within twice the spread.');
  });

  it('reports that there is nothing to compare', () => {
    expect(renderComparison([], aDocument(2), plain)).toContain('The two have no figure in common.');
  });
});
