import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { onTestFinished } from 'vitest';

/** Some tests start a program many times, and most of its time is compilation. */
const COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'console-test-compile-cache');

/** A started program and everything it has printed so far. */
export interface Program {
  pid: number;
  output(): string;
  errors(): string;
  /** Waits until the output matches. */
  shows(pattern: RegExp): Promise<RegExpMatchArray>;
  signal(name: NodeJS.Signals): void;
  /** The exit code. */
  ended: Promise<number | null>;
}

/**
 * Starts a program of this project with Node.js, and kills it at the end of the test if necessary.
 * @param path relative to the top of the project
 */
export function startProgram(path: string, args: readonly string[], env: Record<string, string>): Program {
  const file = fileURLToPath(new URL(`../../../${path}`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      // Nothing that the user of this machine has stored.
      XDG_CONFIG_HOME: join(tmpdir(), 'no-configuration'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { output: '', errors: '' };
  child.stdout.on('data', (chunk) => {
    printed.output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.errors += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const shows = (pattern: RegExp) =>
    awaitAssertion(() => {
      const match = printed.output.match(pattern);
      if (match === null) throw new Error(`not shown: ${pattern}\n${printed.output}\n${printed.errors}`);
      return match;
    });
  return {
    pid: child.pid ?? 0,
    output: () => printed.output,
    errors: () => printed.errors,
    shows,
    signal: (name) => child.kill(name),
    ended,
  };
}

/** Waits until a process is gone; a zombie counts as gone. */
export async function untilGone(pid: number): Promise<void> {
  await awaitAssertion(() => {
    if (isRunning(pid)) throw new Error(`process ${pid} is running`);
  });
}

function isRunning(pid: number): boolean {
  const answer = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return answer.stdout.trim() !== '' && !answer.stdout.startsWith('Z');
}
