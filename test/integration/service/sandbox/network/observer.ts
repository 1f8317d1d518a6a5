import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';

const PRELOAD = join(import.meta.dirname, 'preload.ts');

/**
 * An attempt of a function to reach something outside its process. `engine` is no attempt, but an endpoint
 * from its environment variables.
 */
export interface Observation {
  /** Name of the function. */
  by: string;
  kind: 'tcp' | 'pipe' | 'udp' | 'dns' | 'process' | 'engine';
  /** Address and port, host name, path, program or URL. */
  to: string;
}

export interface Observer {
  /** Node.js options that load it into a process. */
  variables: { NODE_OPTIONS: string; OBSERVED_FILE: string };
  /** All observations until now, oldest first. */
  observed(): Observation[];
  stop(): Promise<void>;
}

/** Observes the processes that have its variables. */
export async function startObserver(): Promise<Observer> {
  const directory = await mkdtemp(join(tmpdir(), 'observer-'));
  const file = join(directory, 'observed.jsonl');
  await writeFile(file, '');
  // Compiled first: stripping its types would cost each process more than the rest of its start.
  const preload = join(directory, 'preload.mjs');
  const { code } = await transform(await readFile(PRELOAD, 'utf8'), { loader: 'ts', target: 'node24' });
  await writeFile(preload, code);
  return {
    variables: {
      // Unlike `--import`, `--require` loads it into worker threads as well.
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
