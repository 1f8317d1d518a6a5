import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

const git = (...parameters: string[]): string =>
  execFileSync('git', parameters, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** A commit; ends the process when there is none of that name. */
export function commitOf(name: string): { commit: string; committedAt: string } {
  try {
    const commit = git('rev-parse', '--verify', '--end-of-options', `${name}^{commit}`);
    return { commit, committedAt: git('show', '--no-patch', '--format=%cI', commit) };
  } catch {
    process.stderr.write(`There is no commit ${name}.\n`);
    process.exit(1);
  }
}

/**
 * Checks out a commit in a directory of its own while the callback runs, with the packages that are installed
 * here.
 */
export async function checkedOut<T>(commit: string, use: (directory: string) => Promise<T>): Promise<T> {
  const directory = join(mkdtempSync(join(tmpdir(), 'version-')), 'tree');
  git('worktree', 'add', '--detach', directory, commit);
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    return await use(directory);
  } finally {
    git('worktree', 'remove', '--force', directory);
    rmSync(join(directory, '..'), { recursive: true, force: true });
  }
}
