import { readdirSync, readFileSync } from 'node:fs';

/* Processor time and memory of processes, by proc(5), on Linux only. */

/** Of the kernel's clock, in which `/proc/<pid>/stat` counts, on every Linux that Node.js runs on. */
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

/** The fields of a process from the third on: the program's name before may contain any character. */
function statOf(pid: string): number[] {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.map(Number);
}

/** A process and all its descendants. */
function familyOf(root: number): string[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(all.map((pid) => [pid, String(statOf(pid)[1])]));
  const members = [String(root)];
  for (const member of members) members.push(...all.filter((pid) => parents.get(pid) === member));
  return members;
}

/** Milliseconds of a process and its descendants, those included that have ended. */
export const familyMsOf = (root: number): number =>
  familyOf(root)
    .flatMap((pid) => statOf(pid).slice(11, 15))
    .reduce((sum, ticks) => sum + ticks * TICK_MS, 0);

/** MiB of a process and its descendants; shared memory is divided among the processes that share it. */
export const memoryOf = (root: number): number =>
  familyOf(root)
    .map((pid) => Number(/^Pss: +(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0))
    .reduce((sum, kib) => sum + kib, 0) / KIB;

/** Empty when the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
