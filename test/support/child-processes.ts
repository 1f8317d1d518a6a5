import { readdirSync, readFileSync } from 'node:fs';

/** Ids of the processes of the embedded DynamoDB that a local run has started. */
export const enginesOf = (run: number): number[] =>
  readdirSync('/proc').flatMap((id) => (/^\d+$/.test(id) && isEngineOf(run, id) ? [Number(id)] : []));

function isEngineOf(run: number, id: string): boolean {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(parent) === run && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('--db-path');
  } catch {
    // It has ended since it was listed.
    return false;
  }
}
