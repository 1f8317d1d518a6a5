import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';

const PRELOAD = join(import.meta.dirname, 'preload.ts');

/**
 * An attempt of a function to reach something outside its process; `engine` is not one, but what it was given
 * as its surroundings.
 */
export interface Observation {
  /** Name of the function. */
  by: string;
  kind: 'tcp' | 'pipe' | 'udp' | 'dns' | 'process' | 'engine';
  /** Address and port, the name that was asked for, a path, a program or a URL. */
  to: string;
}

export interface Observer {
  /** What puts it into a process of Node.js. */
  variables: { NODE_OPTIONS: string; OBSERVED_FILE: string };
  /** All that was observed until now, the oldest first. */
  observed(): Observation[];
  stop(): Promise<void>;
}

/** Observes the processes that are given its variables. */
export async function startObserver(): Promise<Observer> {
  const directory = await mkdtemp(join(tmpdir(), 'observer-'));
  const file = join(directory, 'observed.jsonl');
  await writeFile(file, '');
  // Not as it is: to strip its types would cost each process more than all the rest of its start.
  const preload = join(directory, 'preload.mjs');
  const { code } = await transform(await readFile(PRELOAD, 'utf8'), { loader: 'ts', target: 'node24' });
  await writeFile(preload, code);
  return {
    variables: {
      // Unlike what is imported, what is required is loaded into worker threads as well.
      NODE_OPTIONS: `--require ${JSON.stringify(preload)}`,
      OBSERVED_FILE: file,
    },
    observed: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    stop: () => rm(directory, { recursive: true, force: true }),
  };
}
