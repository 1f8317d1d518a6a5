import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { lastRelease } from './last-release.ts';

/** A repository in a directory of its own. */
function aRepository() {
  const directory = mkdtempSync(join(tmpdir(), 'repository-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const git = (...parameters: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...parameters], {
      cwd: directory,
      encoding: 'utf8',
    });
  git('init', '--quiet');
  return {
    directory,
    git,
    commit(files: Record<string, string>): void {
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, file)), { recursive: true });
        writeFileSync(join(directory, file), text);
      }
      git('add', '.');
      git('commit', '--quiet', '--message', 'A change');
    },
  };
}

it('there is no release before the first version tag', () => {
  const { directory, git, commit } = aRepository();
  commit({ 'a.json': '{}' });
  git('tag', 'draft');

  expect(lastRelease(directory)).toBeUndefined();
});

it('a release has its own files and programs, whatever followed', () => {
  const { directory, git, commit } = aRepository();
  commit({ 'docs/a.json': '{"version":1}', 'bin/a.ts': "process.stdout.write('one' satisfies string);" });
  git('tag', 'v1.0.0');
  commit({ 'docs/a.json': '{"version":2}', 'bin/a.ts': 'throw new Error();' });
  git('checkout', '--quiet', '-b', 'other', 'v1.0.0');
  commit({ 'docs/a.json': '{"version":3}' });
  git('tag', 'v2.0.0');
  git('checkout', '--quiet', '-');

  const release = lastRelease(directory);
  expect(release?.tag).toBe('v1.0.0');
  expect(JSON.parse(release?.read('docs/a.json') ?? '')).toEqual({ version: 1 });
  expect(release?.run('bin/a.ts')).toBe('one');
  expect(readdirSync(directory).toSorted()).toEqual(['.git', 'bin', 'docs']);
});
