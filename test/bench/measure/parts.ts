import { commandOf, familyOf, processes, type SeenProcess, variableOf } from './processor-time.ts';

/** Processor time by part of the benchmark, in milliseconds. */
export type PartTimes = ReadonlyMap<string, number>;

/** Functions whose process has ended, which cannot be distinguished. */
const ENDED = 'functions that ended';
const HOST = 'gateway, queues, sources';
const TABLES = 'tables (dynoxide)';

/**
 * Measures a local run and the processes around it.
 * @param run process id of the local run's command
 * @param others further processes, by name
 */
export function watchParts(run: number, others: Readonly<Record<string, number>>) {
  const look = () => {
    const all = processes();
    const family = familyOf(run, all);
    const around = Object.entries(others).flatMap(([name, pid]) =>
      all.filter((one) => one.pid === pid).map((one) => [name, one] as const),
    );
    return new Map(
      [...family.map((profile) => [partOf(profile, run), profile] as const), ...around].map(
        ([name, profile]) => [profile.pid, { name, ...profile }],
      ),
    );
  };
  let before = look();
  return {
    /** What each part has used since the last call. */
    taken(): PartTimes {
      const after = look();
      const times = new Map<string, number>();
      const add = (name: string, ms: number) => times.set(name, (times.get(name) ?? 0) + ms);
      for (const [pid, { name, cpuMs }] of after) add(name, cpuMs - (before.get(pid)?.cpuMs ?? 0));
      const host = (of: typeof after) => of.get(run)?.endedChildrenMs ?? 0;
      // The kernel reports a child's whole time when it ends; the part that was reported before is
      // subtracted.
      const previous = [...before]
        .filter(([pid]) => !after.has(pid))
        .reduce((sum, [, { cpuMs }]) => sum + cpuMs, 0);
      add(ENDED, Math.max(0, host(after) - host(before) - previous));
      before = after;
      return times;
    },
    /** Process ids of the local run. */
    pids: () => familyOf(run, processes()).map(({ pid }) => pid),
  };
}
export type PartWatch = ReturnType<typeof watchParts>;

function partOf({ pid }: SeenProcess, run: number): string {
  if (pid === run) return HOST;
  const name = variableOf(pid, 'FUNCTION_NAME');
  if (name !== undefined) return name;
  return commandOf(pid).includes('--db-path') ? TABLES : HOST;
}
