import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';

/**
 * The commit and the machine of a measurement. When the load average of the last minute exceeds the number of
 * processors, times mean little.
 */
export function describeMachine(): string {
  const [first] = cpus();
  const load = (loadavg()[0] ?? 0).toFixed(2);
  return `${commit()} on ${cpus().length} x ${first?.model.trim()}, Node.js ${process.version}, load ${load}`;
}

/** The commit that is checked out, with a `+` when files differ from it; `unknown` outside a repository. */
function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}
