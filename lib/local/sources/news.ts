import { DatabaseSync } from 'node:sqlite';
import { pause } from './pause.ts';

/** Waits until it may be worth looking for records again, or until the signal. */
export type UntilNews = (signal: AbortSignal) => Promise<void>;

const POLL_MS = 20;
const CHANGE_CHECK_MS = 4;
/** Looks all the same after so many checks without a change, in case one went by unseen. */
const CHECKS = 125;

/** For any engine: looks again after a short while. */
export const afterAWhile: UntilNews = (signal) => pause(POLL_MS, signal);

/** Tells from the database file of an embedded engine whether anything was written, which costs a hundredth of asking the engine. */
export interface ChangeWatch {
  /** For one reader; each has its own idea of what is new. */
  reader(): UntilNews;
  close(): void;
}

export function watchChanges(databaseFile: string): ChangeWatch {
  const database = new DatabaseSync(databaseFile, { readOnly: true, timeout: 1_000 });
  // A number that is another one after each commit of another connection.
  const version = database.prepare('PRAGMA data_version');
  return {
    reader() {
      let seen: unknown;
      return async (signal) => {
        for (let check = 0; check < CHECKS && !signal.aborted; check += 1) {
          // Read before the records are: what is written in between changes it again.
          const current = version.get()?.data_version;
          if (current !== seen) {
            seen = current;
            return;
          }
          await pause(CHANGE_CHECK_MS, signal);
        }
      };
    },
    close: () => database.close(),
  };
}
