import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from 'terminal/errors.ts';
import { type Release, readRelease } from './assembly.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const MAX_OUTPUT = 2 ** 26;

/** A directory of sources, removed with what belongs to it. */
export interface Tree extends AsyncDisposable {
  directory: string;
  name: string;
}

export const WORKING_TREE: Tree = {
  directory: ROOT,
  name: 'the working tree',
  [Symbol.asyncDispose]: async () => undefined,
};

const git = async (...args: string[]): Promise<string> =>
  (await run('git', ['-C', ROOT, ...args], { maxBuffer: MAX_OUTPUT })).stdout.trim();

/** The newest release before the working tree; undefined when none is tagged, or here is no repository. */
export const findLastRelease = (): Promise<string | undefined> =>
  git('describe', '--tags', '--abbrev=0').catch(() => undefined);

/**
 * Checks a commit out into a temporary work tree. It uses the packages of this one if they are the same.
 * @param report is called before packages are installed
 * @throws UserError when there is no such commit
 */
export async function checkOut(
  commit: string,
  report: (text: string) => void,
  signal: AbortSignal,
): Promise<Tree> {
  await git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`).catch(() => {
    throw new UserError(`There is no commit ${commit} here. For all of them: git fetch --tags --unshallow`);
  });
  const parent = await mkdtemp(join(tmpdir(), 'release-check-'));
  const directory = join(parent, 'tree');
  const dispose = async () => {
    await git('worktree', 'remove', '--force', directory).catch(() => undefined);
    await rm(parent, { recursive: true, force: true });
  };
  try {
    await git('worktree', 'add', '--quiet', '--detach', directory, commit);
    const [theirs, ours] = await Promise.all(
      [directory, ROOT].map((tree) => readFile(join(tree, 'package-lock.json'), 'utf8')),
    );
    if (theirs === ours) {
      for (const modules of ['node_modules', 'dashboard/node_modules'])
        if (existsSync(join(ROOT, modules))) await symlink(join(ROOT, modules), join(directory, modules));
    } else {
      report(
        `${commit} has another package-lock.json: its packages are installed first, which takes a minute.`,
      );
      await run('npm', ['ci', '--prefer-offline'], { cwd: directory, maxBuffer: MAX_OUTPUT, signal });
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return { directory, name: commit, [Symbol.asyncDispose]: dispose };
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
  const assembly = await mkdtemp(join(tmpdir(), 'release-check-'));
  try {
    await run(process.execPath, ['bin/app.ts'], {
      cwd: directory,
      env: {
        ...process.env,
        CDK_OUTDIR: assembly,
        CDK_CONTEXT_JSON: JSON.stringify({ stage }),
        CDK_VALIDATION: 'false',
      },
      maxBuffer: MAX_OUTPUT,
      signal,
    });
    return readRelease(assembly);
  } catch (error) {
    signal.throwIfAborted();
    const { stderr = '' } = error as { stderr?: string };
    if (stderr === '') throw error;
    throw new UserError(`${name} cannot be synthesized with -c stage=${stage}:\n\n${stderr.trim()}`);
  } finally {
    await rm(assembly, { recursive: true, force: true });
  }
}
