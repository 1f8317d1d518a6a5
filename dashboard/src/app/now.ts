import { useSyncExternalStore } from 'react';

const TICK_MS = 5_000;

/** What a clock needs of where it runs. Times in milliseconds. */
interface Time {
  read(): number;
  /** @returns calls it off */
  every(milliseconds: number, action: () => void): () => void;
}

/** One clock for all relative times, so that they change together. It stops while the page is hidden. */
export function clockOf(time: Time) {
  let now = time.read();
  let stop: (() => void) | undefined;
  const listeners = new Set<() => void>();
  const tick = () => {
    now = time.read();
    for (const each of listeners) each();
  };
  return {
    now: () => now,
    /** @returns ends the subscription */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      if (stop === undefined) {
        stop = time.every(TICK_MS, tick);
        now = time.read();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  };
}

const clock = clockOf({
  read: () => Date.now(),
  every(milliseconds, action) {
    const timer = setInterval(action, milliseconds);
    return () => clearInterval(timer);
  },
});

/** Milliseconds since the epoch, some seconds old at most. */
export const useNow = (): number => useSyncExternalStore(clock.subscribe, clock.now);
