import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from './pause.ts';

/** Resolves when a stream may have new records, or when the signal aborts. */
export type WaitForChange = (signal: AbortSignal) => Promise<void>;

const POLL_MS = 20;
const CHANGE_CHECK_MS = 4;
/** Checks without a change after which a reader polls anyway, in case it missed one. */
const CHECKS = 125;

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

export function watchChanges(databaseFile: string): ChangeWatch {
  const database = new DatabaseSync(databaseFile, { readOnly: true, timeout: 1_000 });
  // Changes with each commit of another connection.
  const version = database.prepare('PRAGMA data_version');
  // Only after a commit to the table: nine of ten commits are to other tables.
  const newest = database.prepare(
    'SELECT MAX(CAST(sequence_number AS INTEGER)) AS number FROM _stream_records WHERE table_name = ?',
  );
  let isClosed = false;
  const currentVersion = () => version.get()?.data_version;
  let check: Promise<unknown> | undefined;
  /** All readers share one check: a timer for each would cost more than the checks. */
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
          // Read both before the records, so that a write in between changes them again.
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
