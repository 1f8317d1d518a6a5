import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** The end of its output, to show why a program failed. */
const KEPT_CHARACTERS = 4_000;

/** A program that ended with another exit code than 0. The message has the end of its output. */
export class ProgramError extends Error {
  override name = 'ProgramError';
}

interface ProgramOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Called with each line that is printed. */
  onLine?: (line: string) => void;
}

/**
 * Runs a program to its end.
 * @returns its exit code
 * @throws ProgramError when it does not start, or a signal ends it
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<{ code: number; printed: string }> {
  const { child, printed, ended } = start(command, args, options);
  try {
    await ended;
  } catch (error) {
    throw new ProgramError(`${command} did not start: ${String(error)}`);
  }
  if (child.exitCode === null)
    throw new ProgramError(
      `${command} was ended by ${child.signalCode ?? 'an unknown signal'}:\n${printed()}`,
    );
  return { code: child.exitCode, printed: printed() };
}

const running = new Set<ChildProcess>();

/** Sends SIGTERM to all programs that were started here, before this process ends. */
export function endPrograms(): void {
  for (const child of running) child.kill('SIGTERM');
}

/** Whether a program of this name can be started. */
export async function isInstalled(command: string, versionOption = '--version'): Promise<boolean> {
  try {
    return (await runProgram(command, [versionOption])).code === 0;
  } catch {
    return false;
  }
}

export interface Server {
  /** The text that `ready` matched. */
  address: string;
  stop(): Promise<void>;
}

/** An idle machine needs about two seconds for a JVM, a busy one has needed 45. */
const START_MS = 240_000;
const STOP_MS = 5_000;

/**
 * Starts a server and waits until it prints a line that `ready` matches.
 * @param ready its first group is the URL
 * @throws ProgramError when the server ends before, or is not ready in time
 */
export async function startServer(
  command: string,
  args: readonly string[],
  ready: RegExp,
  options: ProgramOptions = {},
): Promise<Server> {
  const announced = Promise.withResolvers<string>();
  const { child, printed, ended } = start(command, args, {
    ...options,
    onLine: (line) => {
      const [, address] = ready.exec(line) ?? [];
      if (address !== undefined) announced.resolve(address);
    },
  });
  const fail = (what: string) => announced.reject(new ProgramError(`${command} ${what}:\n${printed()}`));
  const deadline = setTimeout(() => fail(`was not ready after ${START_MS / 1000} s`), START_MS);
  ended.then(
    () => fail('ended before it was ready'),
    (error) => fail(`did not start (${String(error)})`),
  );
  const stop = () => end(child);
  try {
    return { address: await announced.promise, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(deadline);
  }
}

function start(command: string, args: readonly string[], { cwd, env, onLine }: ProgramOptions) {
  const child = spawn(command, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('close', () => running.delete(child));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = `${printed}${text}`.slice(-KEPT_CHARACTERS);
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine?.(line);
    });
  }
  // Not `exit`: by `close` all of its output has arrived.
  const ended = once(child, 'close');
  return { child, ended, printed: () => printed.trim() };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exited;
  clearTimeout(patience);
}
