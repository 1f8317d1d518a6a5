import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { quoteForShell } from './environment-file.ts';

/** Environment variables, as in `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>;

const MARKER = '.conversation-service-local';
const MARKER_TEXT = 'The local run keeps its files here; npm start -- --fresh deletes them.\n';

/** The state contains keys and messages. */
const OWNER_ONLY = 0o700;

export const ENVIRONMENT_FILE_NAME = 'env';

/** Directory of the local run: `LOCAL_DIR`, else `.local`. Absolute, and as given for messages. */
export function readDirectory(
  variables: Variables,
  cwd: string,
): { directory: string; directoryShown: string } {
  const shown = readVariable(variables, 'LOCAL_DIR') ?? '.local';
  return { directory: resolve(cwd, shown), directoryShown: shown };
}

/** An empty variable counts as absent. */
export function readVariable(variables: Variables, name: string): string | undefined {
  return variables[name] === '' ? undefined : variables[name];
}

/** File with the shell variables of the local run. */
export function environmentFileIn(directory: string): string {
  return join(directory, ENVIRONMENT_FILE_NAME);
}

/**
 * Creates the directory if needed and marks it as the local run's, without locking it.
 * @param path absolute
 * @param shown name in messages
 * @throws UserError when it has other files, or is not writable
 */
export async function claimDirectory(path: string, shown: string): Promise<void> {
  try {
    await makeDirectory(path);
    const entries = await readdir(path);
    if (entries.length > 0 && !entries.includes(MARKER)) {
      throw new UserError(
        `${shown} is not empty and was not made by the local run: set LOCAL_DIR to another directory.`,
      );
    }
    await writeFile(join(path, MARKER), MARKER_TEXT);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${shown} cannot be used: ${error instanceof Error ? error.message : error}`);
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

/** The shorter of the absolute and relative path, quoted for the shell. */
export function pathForShell(path: string, cwd: string): string {
  const below = relative(cwd, path);
  const shown = below !== '' && !below.startsWith('..') ? below : path;
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : quoteForShell(shown);
}
