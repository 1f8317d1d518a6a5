import { existsSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Whether a process with this id runs; false for one that has ended and is not yet collected by its parent.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** The processes of a local run: its engine, and its sandboxes by the name of their function. */
export interface RunProcesses {
  engine: number | undefined;
  sandboxes: ReadonlyMap<string, readonly number[]>;
}

/**
 * The current children of a local run's process. Linux only.
 *
 * @param run id of the process that runs `startCloud`
 */
export function processesOf(run: number): RunProcesses {
  let engine: number | undefined;
  const sandboxes = new Map<string, number[]>();
  for (const pid of childrenOf(run)) {
    if (read(pid, 'cmdline').includes('--db-path')) engine = pid;
    const name = /(?:^|\0)AWS_LAMBDA_FUNCTION_NAME=([^\0]*)/.exec(read(pid, 'environ'))?.[1];
    if (name !== undefined) sandboxes.set(name, [...(sandboxes.get(name) ?? []), pid]);
  }
  return { engine, sandboxes };
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => Number(/\) \S (\d+) /.exec(read(pid, 'stat'))?.[1]) === parent);
}

/** Empty when the process has ended meanwhile. */
function read(pid: number, file: 'cmdline' | 'environ' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
