import { describe, expect, it } from 'vitest';
import { startNamedProgram } from '../../../lib/cli/terminal/named-programs.ts';

/** Starts a program of `one` and `two`. @returns the exit code, what was printed and what the program saw */
async function run(...args: string[]) {
  const argv = ['node', 'bin/letters.ts', ...args];
  const printed = { output: '', errors: '' };
  const started: string[] = [];
  const code = await startNamedProgram(
    'letters',
    {
      one: { about: 'the first', start: async () => started.push('one', ...argv.slice(2)) },
      two: { about: 'the second', start: async () => started.push('two', ...argv.slice(2)) },
    },
    {
      argv,
      output: { write: (text) => (printed.output += text) },
      errors: { write: (text) => (printed.errors += text) },
    },
  );
  return { code, started, ...printed };
}

describe('startNamedProgram', () => {
  it('starts the named program with the arguments behind the name', async () => {
    expect(await run('two', '--help')).toMatchObject({ started: ['two', '--help'], output: '', errors: '' });
  });

  it('lists each program in one line with --help', async () => {
    const { code, output } = await run('--help');
    expect(code).toBe(0);
    expect(output).toBe(
      'Usage: npm run letters -- NAME [options]\n\n  one         the first\n  two         the second\n',
    );
  });

  it.each([
    [[], 'Usage:'],
    [['three'], 'There is no "three".'],
    [['toString'], 'There is no "toString".'],
  ])('fails with the list for %j', async (args, text) => {
    const { code, errors, started } = await run(...args);
    expect(code).toBe(2);
    expect(errors).toContain(text);
    expect(errors).toContain('the second');
    expect(started).toEqual([]);
  });
});
