import { describe, expect, it } from 'vitest';
import { readArguments } from '../../bench/arguments.ts';
import { usageError } from '../../support/command-line.ts';

const SECTIONS = [
  { name: 'limit', about: 'the limit' },
  { name: 'growth', about: 'growth' },
];
const read = (...args: string[]) => readArguments(args, SECTIONS);

describe('the arguments of the benchmark', () => {
  it('select all sections by default', () => {
    expect(read()).toEqual({ only: [], isSmoke: false, isFull: false, growthScale: 1 });
  });

  it('set sections, runs, seconds and files', () => {
    expect(
      read(
        '--only',
        'limit',
        '--only',
        'growth',
        '--only',
        'limit',
        '--runs',
        '3',
        '--seconds=10',
        '--out',
        'a.json',
      ),
    ).toMatchObject({ only: ['limit', 'growth'], runs: 3, seconds: 10, out: 'a.json' });
  });

  it('select a part of the rows of growth', () => {
    expect(read('--growth-scale', '0.1').growthScale).toBe(0.1);
  });

  it.each([
    [['--only', 'speed'], "'speed' is invalid. It takes limit, growth."],
    [['--smoke', '--only', 'limit'], "option '--smoke' cannot be used with option '--only <section>'"],
    [['--runs', '0'], "'--runs <n>' argument '0' is invalid. It takes a whole number from 1 to 1000."],
    [['--runs', '2.5'], "'--runs <n>' argument '2.5' is invalid. It takes a whole number from 1 to 1000."],
    [['--seconds', 'x'], "'--seconds <n>' argument 'x' is invalid. It takes a whole number from 3 to 3600."],
    [
      ['--growth-scale', '0'],
      "'--growth-scale <n>' argument '0' is invalid. It takes a number from 0.0001 to 1.",
    ],
    [
      ['--growth-scale', '2'],
      "'--growth-scale <n>' argument '2' is invalid. It takes a number from 0.0001 to 1.",
    ],
    [['--compare', 'none.json'], "argument 'none.json' is invalid. It takes a file that can be read."],
    [['--out', '--full'], "'--out <file>' argument '--full' is invalid"],
    [['--fast'], "unknown option '--fast'"],
    [['limit'], 'too many arguments'],
  ])('are refused in one line: %j', (args, message) => {
    expect(usageError(() => readArguments(args, SECTIONS))).toContain(message);
  });
});
