import { describe, expect, it } from 'vitest';
import { ArgumentError, readArguments } from '../../bench/arguments.ts';

const SECTIONS = ['limit', 'growth'];
const read = (...args: string[]) => readArguments(args, SECTIONS);

describe('the arguments of the benchmark', () => {
  it('ask for all sections where nothing is said', () => {
    expect(read()).toEqual({ help: false, only: [], isSmoke: false, isFull: false, growthScale: 1 });
  });

  it('take sections, runs, seconds and files', () => {
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
        '--compare',
        'b.json',
      ),
    ).toMatchObject({ only: ['limit', 'growth'], runs: 3, seconds: 10, out: 'a.json', compare: 'b.json' });
  });

  it('take a part of the rows of growth', () => {
    expect(read('--growth-scale', '0.1').growthScale).toBe(0.1);
  });

  it.each([
    [['--only', 'speed'], '--only takes limit, growth, not "speed"'],
    [['--smoke', '--only', 'limit'], '--smoke is a choice of its own: it goes without --only'],
    [['--runs', '0'], '--runs takes a whole number from 1 to 1000, not "0"'],
    [['--runs', '2.5'], '--runs takes a whole number from 1 to 1000, not "2.5"'],
    [['--seconds', 'x'], '--seconds takes a whole number from 3 to 3600, not "x"'],
    [['--growth-scale', '0'], '--growth-scale takes a number above 0 and up to 1, not "0"'],
    [['--growth-scale', '2'], '--growth-scale takes a number above 0 and up to 1, not "2"'],
    [['--fast'], "Unknown option '--fast'"],
    [['limit'], "Unexpected argument 'limit'"],
  ])('refuses %j in one line', (args, message) => {
    expect(() => readArguments(args, SECTIONS)).toThrow(ArgumentError);
    expect(() => readArguments(args, SECTIONS)).toThrow(message);
  });
});
