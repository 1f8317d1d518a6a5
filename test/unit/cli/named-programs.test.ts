import { stripVTControlCharacters } from 'node:util';
import { startNamedProgram } from 'terminal/named-programs.ts';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../support/command-line.ts';

/**
 * Starts a program of `one` and `two`.
 * @returns the exit code, the output and the program's arguments
 */
async function run(...args: string[]) {
  const argv = ['node', 'bin/letters.ts', ...args];
  const started: string[] = [];
  const programs = {
    one: { about: 'the first', start: async () => started.push('one', ...argv.slice(2)) },
    two: { about: 'the second', start: async () => started.push('two', ...argv.slice(2)) },
  };
  const ending = await runProgram(() => startNamedProgram('letters', 'Writes letters.', programs, { argv }));
  return { ...ending, started };
}

describe('startNamedProgram', () => {
  it('starts the named program with the arguments after the name', async () => {
    expect(await run('two', '--help', '-x', 'y')).toEqual({
      started: ['two', '--help', '-x', 'y'],
      output: '',
      errors: '',
    });
  });

  it('lists each program in one line with --help', async () => {
    const { code, output } = await run('--help');
    const lines = stripVTControlCharacters(output).split('\n');
    expect(code).toBe(0);
    expect(lines).toContainEqual(expect.stringMatching(/^Usage: npm run letters -- /));
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}one +the first$/));
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}two +the second$/));
  });

  it('fails with the list when no program is named', async () => {
    const { code, errors, started } = await run();
    expect(code).toBe(2);
    expect(errors).toContain('the second');
    expect(started).toEqual([]);
  });

  it('runs what is for no name when no program is named', async () => {
    const started: string[][] = [];
    const unnamed = async () => started.push(['all']);
    const ending = await runProgram(() =>
      startNamedProgram('letters', 'Writes letters.', {}, { unnamed, argv: ['node', 'bin/letters.ts'] }),
    );
    expect({ ...ending, started }).toEqual({ started: [['all']], output: '', errors: '' });
  });

  it.each(['three', 'toString'])('refuses %s, and says where the list is', async (name) => {
    expect(await run(name)).toEqual({
      code: 2,
      output: '',
      errors: `error: unknown command '${name}'\nFor the options: npm run letters -- --help\n`,
      started: [],
    });
  });
});
