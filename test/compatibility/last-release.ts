import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface Release {
  tag: string;
  /** The text of a file. */
  read(file: string): string;
  /** Runs a program of the release with the packages that are installed here. @returns its output */
  run(program: string): string;
}

/** The last release before this commit: its newest tag `v…`; undefined before the first one. */
export function lastRelease(repository = ROOT): Release | undefined {
  const git = (...parameters: string[]): string =>
    execFileSync('git', parameters, {
      cwd: repository,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 100_000_000,
    });
  const [tag] = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-creatordate').split('\n');
  if (tag === undefined || tag === '') return undefined;
  return {
    tag,
    read: (file) => git('show', `${tag}:${file}`),
    run(program) {
      const directory = mkdtempSync(join(tmpdir(), 'release-'));
      try {
        const archive = join(directory, 'release.tar');
        git('archive', '--output', archive, tag);
        execFileSync('tar', ['-xf', archive, '-C', directory]);
        symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
        return execFileSync(process.execPath, [join(directory, program)], { encoding: 'utf8' });
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}
