import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDirectory, ENVIRONMENT_FILE_NAME, environmentFileIn } from 'terminal/local-run/directory.ts';
import { lockDirectory, type RunLock } from 'terminal/local-run/run-lock.ts';
import { CERTIFICATE_FILE_NAMES } from '../certificates/certificate-files.ts';

/** A killed run may have left engines running; the next one finds and ends them by these files. */
const PROCESS_ID_FILE = '.pid';

const NAMES = {
  assembly: 'cdk.out',
  compileCache: 'compile-cache',
  state: 'state',
  logs: 'logs',
  mailbox: 'mailbox',
  outputs: 'outputs.json',
  demonstration: 'demonstration.json',
} as const;

/** Deleted by `--fresh`, besides the state files. The held lock and the ownership marker stay. */
const OURS = [
  NAMES.assembly,
  NAMES.compileCache,
  NAMES.logs,
  NAMES.mailbox,
  ENVIRONMENT_FILE_NAME,
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
 * @throws UserError when it has other files, is not writable or is in use by another local run
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

async function claim(path: string, shown: string): Promise<RunLock> {
  await claimDirectory(path, shown);
  return lockDirectory(path, shown);
}

async function deleteOurs(path: string): Promise<void> {
  await Promise.all(OURS.map((name) => rm(join(path, name), { recursive: true, force: true })));
  for (const entry of await readdir(join(path, NAMES.state), { recursive: true, withFileTypes: true })) {
    const isOurs = !entry.isDirectory() && !entry.name.endsWith(PROCESS_ID_FILE);
    if (isOurs) await rm(join(entry.parentPath, entry.name), { force: true });
  }
}
