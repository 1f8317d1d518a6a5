import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Mutation } from './mutations/mutation.ts';
import { MUTATIONS } from './mutations/mutations.ts';

const SIMULATION = join(import.meta.dirname, 'simulation.ts');
const PRELOAD = join(import.meta.dirname, 'mutations/preload.ts');

/** Runs the command as `npm run simulate` does, optionally with a mutation. */
function command(
  parameters: readonly string[],
  mutation?: Mutation,
): Promise<{ status: number; output: string }> {
  const preload = mutation === undefined ? [] : ['--import', PRELOAD];
  const env = { ...process.env, SIMULATED_MUTATION: mutation?.name };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...preload, SIMULATION, ...parameters],
      { env },
      (_, output, errors) => resolve({ status: child.exitCode ?? -1, output: output + errors }),
    );
  });
}

describe('npm run simulate', () => {
  it('prints what happened, and that every promise held', async () => {
    const { status, output } = await command(['--runs', '60', '--seed', '100']);

    expect(output).toMatch(/60 of 60 runs, \d+ a second/);
    expect(output).toMatch(/attempts +\d/);
    expect(output).toContain('Every promise held.');
    expect(status).toBe(0);
  });

  it('names the seed of a run that broke a promise, and the command that repeats it exactly', async () => {
    const [mutation] = MUTATIONS;
    const { status, output } = await command(['--runs', '60'], mutation);
    expect(status).toBe(1);
    const [, seed = ''] = /npm run simulate -- --replay (\d+) --trace/.exec(output) ?? [];
    const [detail] = /.*\n(?= {2}npm run simulate)/.exec(output) ?? [];

    const [once, twice] = await Promise.all(
      [1, 2].map(() => command(['--replay', seed, '--trace'], mutation)),
    );

    expect(once?.status).toBe(1);
    expect(once?.output).toContain(detail);
    expect(once?.output.split('\n').length).toBeGreaterThan(20);
    expect(twice).toEqual(once);
  });

  it('runs a single seed', async () => {
    expect(await command(['--replay', '3'])).toEqual({ status: 0, output: '  seed 3: every promise held\n' });
  });

  it.each([
    ['--runs', 'many'],
    ['--runs', '0'],
    ['--replay', '-1'],
    ['--workers', '0'],
  ])('prints a hint to its help when %s is %s', async (...parameters) => {
    const { status, output } = await command([parameters.join('=')]);

    expect(output).toContain('For the options: npm run simulate -- --help');
    expect(status).toBe(2);
  });
});
