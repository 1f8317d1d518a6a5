import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './api-document.ts';

export const PACKAGE = join(ROOT, 'packages/sdk-python');
const REQUIREMENTS = join(PACKAGE, 'requirements-dev.txt');
/** Not versioned. */
const CACHE = join(ROOT, '.clients');
const NEEDED = 'Python 3.10 or later with pip';
const IS_NEW_ENOUGH = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

/** The machine lacks Python. */
export class NoPythonError extends Error {
  override name = 'NoPythonError';

  constructor() {
    super(`needs ${NEEDED}, which this machine lacks (PYTHON=… names one)`);
  }
}

/** @throws NoPythonError */
export function findPython(): string {
  const names = [process.env.PYTHON ?? [], 'python3', 'python'].flat();
  const python = names.find((name) => spawnSync(name, ['-c', IS_NEW_ENOUGH]).status === 0);
  if (python === undefined) throw new NoPythonError();
  return python;
}

/**
 * A virtual environment with tools, by default those of requirements-dev.txt, unless an earlier run has made
 * it.
 * @param requirements lines of a requirements file
 * @returns its directory of programs
 * @throws NoPythonError
 */
export function installTools(requirements = readFileSync(REQUIREMENTS, 'utf8')): string {
  const python = findPython();
  const version = execFileSync(python, ['--version']);
  const name = createHash('sha256').update(requirements).update(version).digest('hex').slice(0, 16);
  const directory = join(CACHE, `python-${name}`);
  const isComplete = join(directory, 'installed');
  const programs = join(directory, 'bin');
  if (existsSync(isComplete)) return programs;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'requirements.txt');
  writeFileSync(file, requirements);
  execFileSync(python, ['-m', 'venv', directory]);
  const pip = ['install', '--quiet', '--disable-pip-version-check', '-r', file];
  execFileSync(join(programs, 'pip'), pip, { stdio: ['ignore', 'ignore', 'pipe'] });
  writeFileSync(isComplete, '');
  return programs;
}
