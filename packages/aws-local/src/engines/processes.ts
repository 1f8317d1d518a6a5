import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RunningProcess {
  parent: number;
  /** Program and arguments, separated by spaces. */
  command: string;
}

export function runningProcess(pid: number): RunningProcess | undefined {
  return existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): RunningProcess | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name comes second, in parentheses, and may contain any character.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended and only waits for its parent.
    return state === 'Z' ? undefined : { parent: Number(parent), command };
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): RunningProcess | undefined {
  try {
    const line = execFileSync('ps', ['-ww', '-o', 'ppid=,command=', '-p', String(pid)], {
      encoding: 'utf8',
    }).trim();
    const parent = line.split(' ', 1)[0] ?? '';
    return { parent: Number(parent), command: line.slice(parent.length).trim() };
  } catch {
    return undefined;
  }
}

/** Ends a process that is not a child: SIGTERM, then SIGKILL after `patienceMs`. Resolves when it is gone. */
export async function endProcess(pid: number, isStillIt: () => boolean, patienceMs = 1_000): Promise<void> {
  signal(pid, 'SIGTERM');
  if (await becomes(() => !isStillIt(), patienceMs)) return;
  signal(pid, 'SIGKILL');
  await becomes(() => !isStillIt(), patienceMs);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It ended between the check and the signal.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

async function becomes(condition: () => boolean, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += 5) {
    if (condition()) return true;
    await sleep(5);
  }
  return condition();
}
