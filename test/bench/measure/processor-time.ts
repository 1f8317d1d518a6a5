import { readdirSync, readFileSync } from 'node:fs';

/* Processor time of processes, by proc(5), on Linux only. */

/**
 * Of the kernel's clock, in which `/proc/<pid>/stat` counts: USER_HZ, the same on every Linux that Node.js
 * runs on.
 */
const TICK_MS = 10;
const KIB = 1024;

/** Milliseconds that the living threads of a process have used, to the microsecond; 0 when it is gone. */
export function cpuMsOf(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`;
  try {
    return readdirSync(tasks).reduce(
      (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6,
      0,
    );
  } catch {
    return 0;
  }
}

/** One process at a moment. */
interface SeenProcess {
  pid: number;
  parent: number;
  /** Of all its threads, ended ones included. */
  cpuMs: number;
  /** Of its children that have ended. */
  endedChildrenMs: number;
}

/** Every process of this machine, without those that end at this moment. */
function processes(): SeenProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = read(`/proc/${name}/stat`);
      return stat === undefined ? [] : [parseStat(Number(name), stat)];
    });
}

/**
 * @param stat the line of `/proc/<pid>/stat`; the program's name comes second, in parentheses, and may
 * contain any character
 */
export function parseStat(pid: number, stat: string): SeenProcess {
  // From the third field on, which is the state.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = (first: number) => ((fields[first - 3] ?? 0) + (fields[first - 2] ?? 0)) * TICK_MS;
  return { pid, parent: fields[1] ?? 0, cpuMs: ticks(14), endedChildrenMs: ticks(16) };
}

/** A process and all its descendants. */
export function familyOf<P extends Pick<SeenProcess, 'pid' | 'parent'>>(
  root: number,
  all: readonly P[],
): P[] {
  const members = all.filter(({ pid }) => pid === root);
  for (const { pid } of members) members.push(...all.filter(({ parent }) => parent === pid));
  return members;
}

/** Milliseconds of a process and its descendants, those included that have ended. */
export const familyMsOf = (root: number): number =>
  familyOf(root, processes()).reduce((sum, { cpuMs, endedChildrenMs }) => sum + cpuMs + endedChildrenMs, 0);

/** MiB of a process and its descendants; shared memory is divided among the processes that share it. */
export const memoryOf = (root: number): number =>
  familyOf(root, processes()).reduce(
    (sum, { pid }) => sum + Number(/^Pss: +(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')?.[1] ?? 0),
    0,
  ) / KIB;

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
