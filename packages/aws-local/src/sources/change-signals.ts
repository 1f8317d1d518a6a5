import { watch } from 'node:fs';
import type { DynamoDbEngine } from '../engines/dynamodb.ts';
import { pause } from './pause.ts';

/** Resolves when a stream may have new records, or when the signal aborts. */
export type WaitForChange = (signal: AbortSignal) => Promise<void>;

const POLL_MS = 20;
/** Interval of checks while the engine writes. */
const CHECK_MS = 4;
/** Time after a write during which its commit, which waits for the disk, may become visible. */
const ACTIVE_MS = 200;
/** A reader reads at least this often, in case the kernel reported no write. */
const LONGEST_WAIT_MS = 500;

/** Works with any engine: polls at a fixed interval. */
export const waitForInterval: WaitForChange = (signal) => pause(POLL_MS, signal);

/**
 * Detects new stream records in an embedded engine's database file, at a hundredth of the cost of a request.
 */
export interface ChangeWatch {
  /** For one reader of a table's stream; each reader keeps its own position. */
  reader(table: string): WaitForChange;
  close(): void;
}

export function watchChanges({ database, databaseFile }: DynamoDbEngine): ChangeWatch {
  let isClosed = false;
  const currentVersion = () => (isClosed ? undefined : database.version());
  const checks = scheduleChecks(`${databaseFile}-wal`, currentVersion);

  return {
    reader(table) {
      let seen: unknown;
      let read: unknown;
      return async (signal) => {
        const longest = Date.now() + LONGEST_WAIT_MS;
        let current: unknown = currentVersion();
        while (!signal.aborted && !isClosed && Date.now() < longest) {
          // Read both before the records, so that a write in between changes them again.
          if (current !== seen) {
            seen = current;
            // Nine of ten commits are to other tables.
            const number = database.newestRecord(table);
            if (number !== read) {
              read = number;
              return;
            }
          }
          current = await checks.next(signal);
        }
      };
    },
    close() {
      isClosed = true;
      checks.stop();
    },
  };
}

/**
 * Times of checks, which all readers share: frequent while the engine writes its log, else when it begins to.
 * Frequent checks all the time would take hundredths of a processor of an idle run.
 */
function scheduleChecks<Result>(logFile: string, read: () => Result) {
  const waiting = new Set<(result: Result | undefined) => void>();
  let timer: NodeJS.Timeout | undefined;
  let activeUntil = 0;
  const check = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const result = read();
    for (const wake of waiting) wake(result);
  };
  const stopWatching = watchWrites(logFile, () => {
    const isFirst = Date.now() > activeUntil;
    activeUntil = Date.now() + ACTIVE_MS;
    if (isFirst) check();
  });
  // Without reports of the kernel there are only checks.
  if (!stopWatching) activeUntil = Number.POSITIVE_INFINITY;
  return {
    /** @returns the result of the next check; undefined when the signal aborts first */
    next: (signal: AbortSignal): Promise<Result | undefined> =>
      new Promise((resolve) => {
        const wake = (result?: Result) => {
          waiting.delete(wake);
          signal.removeEventListener('abort', abort);
          resolve(result);
        };
        const abort = () => wake();
        waiting.add(wake);
        signal.addEventListener('abort', abort);
        timer ??= setTimeout(check, Date.now() < activeUntil ? CHECK_MS : LONGEST_WAIT_MS);
      }),
    stop() {
      stopWatching?.();
      check();
    },
  };
}

/** @returns stops it; undefined where files cannot be watched */
function watchWrites(file: string, onWrite: () => void): (() => void) | undefined {
  try {
    const watcher = watch(file, onWrite);
    // Reports of a file that is gone have ended, which the longest wait makes up for.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return undefined;
  }
}
