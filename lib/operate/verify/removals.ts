import { CheckFailed } from './check.ts';
import { findingsOf } from './run-checks.ts';

/** Cleanup of a verification, however it ends. */
export interface Removals {
  /** @param what names the resource in messages */
  add(what: string, remove: () => Promise<void>): void;
  /**
   * Removes everything, latest first, and continues after a failure.
   * @returns what was removed
   * @throws CheckFailed naming what could not be removed
   */
  removeAll(): Promise<string[]>;
}

export function createRemovals(): Removals {
  const pending: { what: string; remove: () => Promise<void> }[] = [];
  return {
    add: (what, remove) => void pending.push({ what, remove }),
    async removeAll() {
      const removed: string[] = [];
      const findings: string[] = [];
      for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
        try {
          await next.remove();
          removed.push(next.what);
        } catch (error) {
          findings.push(`${next.what} was not removed: ${findingsOf(error).join(' ')}`);
        }
      }
      if (findings.length > 0) throw new CheckFailed(...findings);
      return removed;
    },
  };
}
