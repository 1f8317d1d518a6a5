import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createScreen, type Screen } from 'terminal/screen.ts';
import { MODEL_FILES, MODELS_DIRECTORY, writeModels } from '../../packages/sdk-python/bin/models.ts';
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
    await screen.step('Compare the generated types', () => compareModels(programs));
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

/** @throws ProgramError when a committed file is not what the generator writes */
async function compareModels(programs: string): Promise<void> {
  // Within the package, whose settings the formatter reads.
  const directory = await mkdtemp(join(PACKAGE, '.generated-'));
  try {
    writeModels(programs, directory);
    const read = (place: string, file: string) => readFileSync(join(place, file), 'utf8');
    const stale = MODEL_FILES.filter((file) => read(directory, file) !== read(MODELS_DIRECTORY, file));
    if (stale.length > 0)
      throw new ProgramError(`${stale.join(' and ')}: run npm run generate -- python --types`);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** @returns the last line that the program prints */
async function check(program: string, args: readonly string[]): Promise<string> {
  const { code, printed } = await runProgram(program, args, { cwd: PACKAGE, env: process.env });
  if (code !== 0) throw new ProgramError(`${program} ended with ${code}:\n${printed}`);
  return printed.split('\n').at(-1) ?? '';
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.once('exit', endPrograms);
process.exitCode = await main();
