import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LocalRunError } from 'aws-local/errors.ts';

const LOCK_FILE = 'lock.sqlite';
const PID_FILE = 'pid';

/** Held from {@link takeLock} on. */
export interface RunLock {
  release(): void;
}

/**
 * Makes this process the only one that has the lock. It is an exclusive SQLite transaction, that is a lock of
 * the operating system: it ends with the process however that ends, so there are no stale locks to recognise
 * and no race between two starts.
 * @param file made if needed, and left behind
 * @returns undefined when another process has it
 */
export function takeLock(file: string): RunLock | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // The default rollback journal would be one more file to leave behind.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    return undefined;
  }
  return { release: () => database.close() };
}

/**
 * Makes this process the only local run of a directory. The process id beside the lock only serves the
 * message.
 * @param directory absolute, exists
 * @param shown how messages call the directory
 * @throws LocalRunError when another process holds it
 */
export function lockDirectory(directory: string, shown: string): RunLock {
  const pidFile = join(directory, PID_FILE);
  const lock = takeLock(join(directory, LOCK_FILE));
  if (lock === undefined) {
    throw new LocalRunError(
      `Another local run${holder(pidFile)} uses ${shown}: stop it, or set LOCAL_DIR and PORT.`,
    );
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return lock;
}

function holder(pidFile: string): string {
  try {
    return ` (pid ${readFileSync(pidFile, 'utf8').trim()})`;
  } catch {
    // It took the lock a moment ago and has not written its id yet.
    return '';
  }
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
