import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from './pause.ts';

/** Waits until it may be worth looking for records again, or until the signal. */
export type UntilNews = (signal: AbortSignal) => Promise<void>;

const POLL_MS = 20;
const CHANGE_CHECK_MS = 4;
/** Looks all the same after so many checks without a change, in case one went by unseen. */
const CHECKS = 125;

/** For any engine: looks again after a short while. */
export const afterAWhile: UntilNews = (signal) => pause(POLL_MS, signal);

/**
 * Tells from the database file of an embedded engine whether a stream has new records, which costs a
 * hundredth of asking the engine.
 */
export interface ChangeWatch {
  /** For one reader of a table's stream; each has its own idea of what is new. */
  reader(table: string): UntilNews;
  close(): void;
}

export function watchChanges(databaseFile: string): ChangeWatch {
  const database = new DatabaseSync(databaseFile, { readOnly: true, timeout: 1_000 });
  // A number that is another one after each commit of another connection.
  const version = database.prepare('PRAGMA data_version');
  // Only after a commit of the table: nine of ten commits are of other tables.
  const newest = database.prepare(
    'SELECT MAX(CAST(sequence_number AS INTEGER)) AS number FROM _stream_records WHERE table_name = ?',
  );
  let isClosed = false;
  const currentVersion = () => version.get()?.data_version;
  let check: Promise<unknown> | undefined;
  /**
   * The version at the next check, which all readers share: timers of their own would cost more than the
   * checks.
   */
  function nextVersion(): Promise<unknown> {
    check ??= sleep(CHANGE_CHECK_MS).then(() => {
      check = undefined;
      return isClosed || currentVersion();
    });
    return check;
  }

  return {
    reader(table) {
      let seen: unknown;
      let read: unknown;
      return async (signal) => {
        let current: unknown = currentVersion();
        for (let checks = 0; checks < CHECKS && !signal.aborted && !isClosed; checks += 1) {
          // Both are read before the records are: what is written in between changes them again.
          if (current !== seen) {
            seen = current;
            const number = newest.get(table)?.number;
            if (number !== read) {
              read = number;
              return;
            }
          }
          current = await nextVersion();
        }
      };
    },
    close() {
      isClosed = true;
      database.close();
    },
  };
}
