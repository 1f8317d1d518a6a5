import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtempDisposable, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from 'terminal/errors.ts';
import { type Release, readRelease } from './assembly.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const TEMPORARY = join(tmpdir(), 'release-check-');
const MAX_OUTPUT = 2 ** 26;

/** A directory of sources. */
export interface Tree {
  directory: string;
  name: string;
}

export const WORKING_TREE: Tree = { directory: ROOT, name: 'the working tree' };

const git = async (...args: string[]): Promise<string> =>
  (await run('git', ['-C', ROOT, ...args], { maxBuffer: MAX_OUTPUT })).stdout.trim();

/** The newest release before the working tree; undefined when none is tagged, or here is no repository. */
export const findLastRelease = (): Promise<string | undefined> =>
  git('describe', '--tags', '--abbrev=0').catch(() => undefined);

/**
 * Checks a commit out into a temporary work tree, with the packages of this one if they are the same, else
 * with its own, which takes a minute.
 * @throws UserError when there is no such commit
 */
export async function checkOut(commit: string, signal: AbortSignal): Promise<Tree & AsyncDisposable> {
  await git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`).catch(() => {
    throw new UserError(`There is no commit ${commit} here. For all of them: git fetch --tags --unshallow`);
  });
  await using undo = new AsyncDisposableStack();
  const directory = join(undo.use(await mkdtempDisposable(TEMPORARY)).path, 'tree');
  await git('worktree', 'add', '--quiet', '--detach', directory, commit);
  undo.defer(() => git('worktree', 'remove', '--force', directory).then(() => undefined));
  const [theirs, ours] = await Promise.all(
    [directory, ROOT].map((tree) => readFile(join(tree, 'package-lock.json'), 'utf8')),
  );
  if (theirs === ours) {
    for (const modules of ['node_modules', 'dashboard/node_modules'])
      if (existsSync(join(ROOT, modules))) await symlink(join(ROOT, modules), join(directory, modules));
  } else await run('npm', ['ci', '--prefer-offline'], { cwd: directory, maxBuffer: MAX_OUTPUT, signal });
  const done = undo.move();
  return { directory, name: commit, [Symbol.asyncDispose]: () => done.disposeAsync() };
}

/** Whether a tree has the stage, or is older than the files of stages. */
export const hasStage = ({ directory }: Tree, stage: string): boolean =>
  !existsSync(join(directory, 'lib/stages')) || existsSync(join(directory, 'lib/stages', `${stage}.ts`));

/**
 * Synthesizes a tree without CloudFormation's rules, which `cdk deploy` and the tests apply.
 * @throws UserError with the app's output when it fails
 */
export async function synthesize(
  { directory, name }: Tree,
  stage: string,
  signal: AbortSignal,
): Promise<Release> {
  await using assembly = await mkdtempDisposable(TEMPORARY);
  const CDK_CONTEXT_JSON = JSON.stringify({ stage });
  const variables = { CDK_OUTDIR: assembly.path, CDK_CONTEXT_JSON, CDK_VALIDATION: 'false' };
  const options = { cwd: directory, env: { ...process.env, ...variables }, maxBuffer: MAX_OUTPUT, signal };
  try {
    await run(process.execPath, ['bin/app.ts'], options);
  } catch (error) {
    signal.throwIfAborted();
    const { stderr = '' } = error as { stderr?: string };
    if (stderr === '') throw error;
    throw new UserError(`${name} cannot be synthesized with -c stage=${stage}:\n\n${stderr.trim()}`);
  }
  return readRelease(assembly.path);
}
