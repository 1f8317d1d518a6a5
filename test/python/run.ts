import { join } from 'node:path';
import { createScreen, type Screen } from 'terminal/screen.ts';
import { ROOT } from '../../packages/sdk-python/bin/api-document.ts';
import { findPython, installTools, NoPythonError, PACKAGE } from '../../packages/sdk-python/bin/toolbox.ts';
import { endPrograms, ProgramError, runProgram } from '../engines/program.ts';

/*
 * `npm run test:python`: checks packages/sdk-python with a Python of this machine. Prints that it is skipped
 * where there is none.
 */

/** Programs of the virtual environment, with what they check. */
const CHECKS: readonly [name: string, program: string, ...args: string[]][] = [
  ['Lint', 'ruff', 'check', '--quiet', '.'],
  ['Format', 'ruff', 'format', '--check', '--quiet', '.'],
  ['Types', 'mypy'],
  ['Tests', 'pytest', '--quiet'],
];

async function main(): Promise<number> {
  const screen = createScreen(process.stdout);
  try {
    findPython();
    const programs = await screen.step('Install', async () => installTools());
    await screen.step('Generate', () => check(process.execPath, ['bin/generate.ts', 'python'], ROOT));
    for (const [name, program, ...args] of CHECKS)
      await screen.step(name, () => check(join(programs, program), args), String);
    return 0;
  } catch (error) {
    if (error instanceof NoPythonError) return skip(error, screen);
    screen.print(`\n${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

function skip(error: NoPythonError, screen: Screen): number {
  screen.print(`\n  ${screen.paint('yellow', `SKIPPED: packages/sdk-python ${error.message}`)}\n`);
  return 0;
}

/** @returns the last line that the program prints */
async function check(program: string, args: readonly string[], cwd = PACKAGE): Promise<string> {
  const { code, printed } = await runProgram(program, args, { cwd, env: process.env });
  if (code !== 0) throw new ProgramError(`${program} ended with ${code}:\n${printed}`);
  return printed.split('\n').at(-1) ?? '';
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.once('exit', endPrograms);
process.exitCode = await main();
