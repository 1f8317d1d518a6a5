import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from './customer.ts';

/** The local run of a version, on engines that outlive it. */
export interface RunningVersion {
  environment: Environment;
  /** As in a crash, so that work in progress stays unfinished. */
  kill(): Promise<void>;
}

/**
 * Starts the local run of the sources in `directory`.
 * @throws Error with its output when it ends before it is ready
 */
export async function startVersion(
  directory: string,
  stateDirectory: string,
  settings: Readonly<Record<string, string>>,
): Promise<RunningVersion> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['bin/local.ts'], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, PORT: '0', LOCAL_DIR: stateDirectory, RATE_LIMIT_PER_MINUTE: '1000000', ...settings },
  });
  const exited = once(child, 'exit');
  await ready(child);
  return {
    environment: variablesIn(await readFile(join(stateDirectory, 'env'), 'utf8')),
    async kill() {
      const isRunning = child.exitCode === null && child.signalCode === null;
      if (child.pid !== undefined && isRunning) process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const take = (chunk: Buffer) => {
      printed += chunk.toString();
      if (/^\s*Ready\b/m.test(printed)) resolve();
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('exit', (code) => reject(new Error(`the local run ended with ${code}:\n${printed}`)));
  });
}

/** Of a file that a shell can read. */
const variablesIn = (text: string): Environment =>
  Object.fromEntries(
    [...text.matchAll(/^(?:export )?(\w+)='?([^'\n]*)'?$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
