import { stripVTControlCharacters } from 'node:util';
import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { figure } from '../../bench/figure.ts';
import { renderBlock, short } from '../../bench/table.ts';

describe('a table', () => {
  it('has a row for each subject and a column for each measure, with units and spreads', () => {
    const figures = [
      figure('first', 'time', [1, 2, 3], 'ms'),
      figure('first', 'units', 6, 'count'),
      figure('second', 'time', [10.123, 10.123], 'ms'),
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

  it('aligns coloured cells like others', () => {
    const block = {
      title: 'A title',
      figures: [figure('first', 'time', [1, 2, 3], 'ms' as const)],
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
