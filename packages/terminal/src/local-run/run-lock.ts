import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../errors.ts';

const LOCK_FILE = 'lock.sqlite';
const PID_FILE = 'pid';

export interface RunLock {
  release(): void;
}

/**
 * Takes an exclusive SQLite transaction as a lock. The operating system releases it when the process ends, so
 * there are no stale locks and no races.
 * @param file created if needed, never deleted
 * @returns undefined when another process has it
 */
export function takeLock(file: string): RunLock | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // The default rollback journal would leave another file behind.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    return undefined;
  }
  return { release: () => database.close() };
}

/**
 * Locks a directory for this local run. The process id beside the lock is only for the message.
 * @param directory absolute, exists
 * @param shown name in messages
 * @throws UserError when another process holds it
 */
export function lockDirectory(directory: string, shown: string): RunLock {
  const pidFile = join(directory, PID_FILE);
  const lock = takeLock(join(directory, LOCK_FILE));
  if (lock === undefined) {
    throw new UserError(
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
    // The other process has just taken the lock and not written its id yet.
    return '';
  }
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
