import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const ROOT = join(import.meta.dirname, '../../../..');

/** A run of `npm run verify -- --local`. */
export interface Verification {
  code: number | null;
  output: string;
  errors: string;
  /** Names of the checks that failed. */
  failed: string[];
  /** The lines of the failed checks, with what is wrong, as users see them. */
  said: string;
}

/** What the local run writes for operators. */
export interface OperatorOutputs {
  region: string;
  endpoints: Record<string, string>;
  outputs: Record<string, string>;
}

/**
 * Writes the files by which the command finds a local run.
 * @returns LOCAL_DIR of the command
 */
export async function writeOutputs(directory: string, outputs: OperatorOutputs): Promise<string> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'outputs.json'), JSON.stringify(outputs));
  return directory;
}

/** Runs the command as a program. */
export async function verify(
  directory: string,
  options: {
    args?: readonly string[];
    token?: string;
    /** Sends SIGINT, as Ctrl-C does, once this was printed. */
    interruptAfter?: string;
  } = {},
): Promise<Verification> {
  const { args = [], token, interruptAfter } = options;
  const child = spawn(process.execPath, ['bin/verify.ts', '--local', ...args], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      LOCAL_DIR: directory,
      ...(token !== undefined && { VERIFY_TOKEN: token }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { output: '', errors: '' };
  let interrupted = interruptAfter === undefined;
  child.stdout.on('data', (chunk) => {
    printed.output += chunk;
    if (interrupted || !printed.output.includes(interruptAfter ?? '')) return;
    interrupted = true;
    child.kill('SIGINT');
  });
  child.stderr.on('data', (chunk) => {
    printed.errors += chunk;
  });
  const [code] = await once(child, 'close');
  const output = stripVTControlCharacters(printed.output);
  // The first sign of the summary is the last one; what is wrong with a check is printed below its line.
  const said = [...output.matchAll(/^ {2}✗ (.+?) +[\d.]+ m?s\n((?: {6}.+\n)+)/gm)];
  return {
    code,
    output,
    errors: printed.errors,
    failed: said.map(([, name = '']) => name),
    said: said.map(([text]) => text).join(''),
  };
}
