import { join } from 'node:path';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { describe, expect, it } from 'vitest';
import { startProgram } from './cli/program.ts';
import { temporaryDirectory } from './cli/temporary-directory.ts';

/** Each benchmark in a small form: whether it still measures, and not what. */
const SMALL: readonly [string, ...string[]][] = [
  ['speed', '--runs', '1', '--seconds', '3'],
  ['recovery', '--events', '30', '--turns', '1'],
  ['requests', '--rounds', '1', '--out', 'FILE'],
];

/** Ends with 1 for times that are longer where other tests run. */
const BOUNDED = 'recovery';
/** A line of a stack trace: of an error that the program did not expect. */
const CRASH = /^ {4}at .*\n/m;

describe('benchmarks', () => {
  it.each(SMALL)('%s: measures', { timeout: 900_000 * PATIENCE }, async (name, ...args) => {
    const file = join(await temporaryDirectory(), 'figures.json');
    const program = startProgram(
      'test/bench/bench.ts',
      [name, ...args].map((argument) => (argument === 'FILE' ? file : argument)),
      {},
    );
    const code = await program.ended;
    const crash = program.errors().match(CRASH) === null ? '' : program.errors();
    expect({ code, crash, output: program.output() }).toEqual({
      code: expect.toBeOneOf(name === BOUNDED ? [0, 1] : [0]),
      crash: '',
      output: expect.stringMatching(/\S/),
    });
  });
});
