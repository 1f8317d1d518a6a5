import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LocalRunError } from '../errors.ts';

const LOCK_FILE = 'lock.sqlite';
const PID_FILE = 'pid';

/** Held from {@link lockDirectory} on. */
export interface RunLock {
  release(): void;
}

/**
 * Makes this process the only local run of a directory. The lock is an exclusive SQLite transaction, that is a lock of
 * the operating system: it ends with the process however that ends, so there are no stale locks to recognise and no
 * race between two starts. The process id beside it only serves the message.
 * @param directory absolute, exists
 * @param shown how messages call the directory
 * @throws LocalRunError when another process holds it
 */
export function lockDirectory(directory: string, shown: string): RunLock {
  const pidFile = join(directory, PID_FILE);
  const database = new DatabaseSync(join(directory, LOCK_FILE), { timeout: 0 });
  try {
    // The default rollback journal would be one more file to leave behind.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new LocalRunError(`Another local run${holder(pidFile)} uses ${shown}: stop it, or set LOCAL_DIR.`);
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return { release: () => database.close() };
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
