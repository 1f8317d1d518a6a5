import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LocalRunError } from 'aws-local/errors.ts';
import { CERTIFICATE_FILE_NAMES } from '../certificates/certificate-files.ts';
import { lockDirectory, type RunLock } from './run-lock.ts';

const MARKER = '.conversation-service-local';
const MARKER_TEXT = 'The local run keeps its files here; npm start -- --fresh deletes them.\n';

/** The state contains keys and messages. */
const OWNER_ONLY = 0o700;

/** A killed run may have left engines running; the next one finds and ends them by these files. */
const PROCESS_ID_FILE = '.pid';

const NAMES = {
  assembly: 'cdk.out',
  compileCache: 'compile-cache',
  state: 'state',
  logs: 'logs',
  mailbox: 'mailbox',
  environment: 'env',
  outputs: 'outputs.json',
  demonstration: 'demonstration.json',
} as const;

/** Deleted by `--fresh`, besides the state files. The held lock and the ownership marker stay. */
const OURS = [
  NAMES.assembly,
  NAMES.compileCache,
  NAMES.logs,
  NAMES.mailbox,
  NAMES.environment,
  NAMES.outputs,
  NAMES.demonstration,
  ...Object.values(CERTIFICATE_FILE_NAMES),
];

/** Directory of the local run's files. All paths are absolute. */
export interface LocalDirectory {
  path: string;
  assembly: string;
  compileCache: string;
  state: string;
  logs: string;
  environmentFile: string;
  /** Stack outputs, for the operator's command. */
  outputsFile: string;
  /** Endpoint of the demonstration with its signing secret. */
  demonstrationFile: string;
  /** Unlocks the directory. */
  release(): void;
}

/**
 * Creates the directory if needed and locks it.
 * @param path absolute
 * @param options.shown name in messages
 * @param options.fresh deletes the files of earlier runs, and nothing else
 * @throws LocalRunError when it has other files, is not writable or is in use by another local run
 */
export async function openLocalDirectory(
  path: string,
  options: { shown: string; fresh: boolean },
): Promise<LocalDirectory> {
  const lock = await claim(path, options.shown);
  const directory = {
    path,
    assembly: join(path, NAMES.assembly),
    compileCache: join(path, NAMES.compileCache),
    state: join(path, NAMES.state),
    logs: join(path, NAMES.logs),
    environmentFile: environmentFileIn(path),
    outputsFile: join(path, NAMES.outputs),
    demonstrationFile: join(path, NAMES.demonstration),
  };
  await mkdir(directory.state, { recursive: true });
  if (options.fresh) await deleteOurs(path);
  await mkdir(directory.logs, { recursive: true });
  return { ...directory, release: () => lock.release() };
}

/** File with the shell variables of the local run. */
export function environmentFileIn(directory: string): string {
  return join(directory, NAMES.environment);
}

async function claim(path: string, shown: string): Promise<RunLock> {
  await claimDirectory(path, shown);
  return lockDirectory(path, shown);
}

/**
 * Creates the directory if needed and marks it as the local run's, without locking it.
 * @param path absolute
 * @param shown name in messages
 * @throws LocalRunError when it has other files, or is not writable
 */
export async function claimDirectory(path: string, shown: string): Promise<void> {
  try {
    await makeDirectory(path);
    const entries = await readdir(path);
    if (entries.length > 0 && !entries.includes(MARKER)) {
      throw new LocalRunError(
        `${shown} is not empty and was not made by the local run: set LOCAL_DIR to another directory.`,
      );
    }
    await writeFile(join(path, MARKER), MARKER_TEXT);
  } catch (error) {
    if (error instanceof LocalRunError) throw error;
    throw new LocalRunError(`${shown} cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * Creates missing parents. Node's own `recursive` never returns where the parent rejects entries as "no such
 * file", as in /proc.
 */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: OWNER_ONLY });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return;
    const above = dirname(path);
    if (code !== 'ENOENT' || above === path || existsSync(above)) throw error;
    await makeDirectory(above);
    await mkdir(path, { mode: OWNER_ONLY });
  }
}

async function deleteOurs(path: string): Promise<void> {
  await Promise.all(OURS.map((name) => rm(join(path, name), { recursive: true, force: true })));
  for (const entry of await readdir(join(path, NAMES.state), { recursive: true, withFileTypes: true })) {
    const isOurs = !entry.isDirectory() && !entry.name.endsWith(PROCESS_ID_FILE);
    if (isOurs) await rm(join(entry.parentPath, entry.name), { force: true });
  }
}
