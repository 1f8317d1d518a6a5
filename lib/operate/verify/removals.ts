import { CheckFailed } from './check.ts';
import { findingsOf } from './run-checks.ts';

/** What a verification has to take back when it ends, however it ends. */
export interface Removals {
  /** @param what names it in messages */
  add(what: string, remove: () => Promise<void>): void;
  /**
   * Takes everything back, the latest first, and goes on after a failure.
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
