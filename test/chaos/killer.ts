import { readdirSync, readFileSync } from 'node:fs';

/** Processes of a local run that can be killed without killing the run itself. */
export interface Prey {
  engine: number[];
  functions: number[];
}

/** The children of a local run, distinguished by their commands. */
export function childrenOf(run: number): Prey {
  const prey: Prey = { engine: [], functions: [] };
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const [parent, command] = describe(entry);
    if (parent !== run) continue;
    (command.includes('--db-path') ? prey.engine : prey.functions).push(Number(entry));
  }
  return prey;
}

/** Parent and command of a process; undefined when it is gone. */
function describe(id: string): [parent: number | undefined, command: string] {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [Number(parent), readFileSync(`/proc/${id}/cmdline`, 'utf8')];
  } catch {
    return [undefined, ''];
  }
}

/**
 * `kill -9` of one of them.
 * @returns whether there was one
 */
export function killOne(ids: readonly number[]): boolean {
  const id = ids[Math.floor(Math.random() * ids.length)];
  if (id === undefined) return false;
  try {
    process.kill(id, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
