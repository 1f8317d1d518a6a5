import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProgram } from './cli/program.ts';
import { temporaryDirectory } from './cli/temporary-directory.ts';

/** Each benchmark in a small form: whether it still measures, and not what. FILE becomes a temporary one. */
const SMALL: Readonly<Record<string, readonly string[]>> = {
  'speed, to compare two checkouts': ['speed', '--smoke', '--runs', '1', '--out', 'FILE'],
  'speed, the local run': [
    ...['speed', '--only', 'start', '--only', 'profile', '--only', 'latency', '--only', 'kill'],
    ...['--runs', '1', '--seconds', '3', '--out', 'FILE'],
  ],
  dashboard: ['dashboard', '--rows', '300', '--runs', '1', '--seconds', '3'],
  tasks: ['tasks', '--events', '1000', '--runs', '1'],
  pace: ['pace', '--seconds', '3', '--rate', '20'],
  isolation: ['isolation', '--seconds', '5'],
  neighbours: ['neighbours', '--scenario', 'visitors', '--seconds', '5', '--rounds', '1'],
  parked: ['parked', '--parked', '200', '--minutes', '2'],
  recovery: [
    ...['recovery', '--rehearsal', 'outage', '--events', '30'],
    ...['--rehearsal', 'large', '--large', '100', '--turns', '1'],
  ],
  redelivery: ['redelivery', '--deliveries', '100'],
  requests: ['requests', '--only', 'template', '--only', 'limited', '--out', 'FILE'],
  reset: ['reset', '--records', '500', '--resets', '1'],
  sweep: ['sweep', '--sources', '200', '--tenants', '5', '--due', '20'],
};

/** Those that end with 1 for times that are longer where other tests run. */
const WITH_A_BOUND_OF_TIME = ['pace', 'neighbours', 'recovery'];
/** A line of a stack trace: of an error that the program did not expect. */
const CRASH = /^ {4}at .*\n/m;

describe('benchmarks', () => {
  it.each(Object.entries(SMALL))('%s: measures', { timeout: 900_000 }, async (_, args) => {
    const file = join(await temporaryDirectory(), 'figures.json');
    const program = startProgram(
      'test/bench/bench.ts',
      args.map((one) => (one === 'FILE' ? file : one)),
      {},
    );
    const code = await program.ended;
    const crash = program.errors().match(CRASH) === null ? '' : program.errors();
    const allowed = WITH_A_BOUND_OF_TIME.includes(args[0] ?? '') ? [0, 1] : [0];
    expect({ code, crash, output: program.output() }).toEqual({
      code: expect.toBeOneOf(allowed),
      crash: '',
      output: expect.stringMatching(/\S/),
    });
  });

  it('are all among them', () => {
    const source = readFileSync(join(import.meta.dirname, '../bench/bench.ts'), 'utf8');
    const programs = [...source.matchAll(/^ {2}(\w+): \{$/gm)].map(([, name]) => name);
    expect(new Set(Object.values(SMALL).map(([name]) => name))).toEqual(new Set(programs));
  });
});
