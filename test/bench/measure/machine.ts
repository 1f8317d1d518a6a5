import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';

/** The machine and the commit of a measurement. */
export interface Machine {
  cpus: number;
  model: string;
  memoryMiB: number;
  node: string;
  /**
   * The load average of a minute, before and after: when it exceeds the number of processors, times mean
   * little.
   */
  load: { atBeginning: number; atEnd: number };
}

export const describeMachine = (loadAtBeginning: number): Machine => ({
  cpus: cpus().length,
  model: cpus()[0]?.model.trim() ?? 'unknown',
  memoryMiB: Math.round(totalmem() / 2 ** 20),
  node: process.version,
  load: { atBeginning: round(loadAtBeginning), atEnd: round(loadOfMinute()) },
});

export const loadOfMinute = (): number => loadavg()[0] ?? 0;

const round = (value: number): number => Number(value.toFixed(2));

/** The commit that is checked out, with a `+` when files differ from it; `unknown` outside a repository. */
export function commitOf(directory: string): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}
