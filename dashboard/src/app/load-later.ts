import { useEffect } from 'react';

const AFTER_MS = 2_000;

/** Loads a file after the page, so that what is opened is there at once. @param load the same at all times */
export function useLoadedLater(load: () => Promise<unknown>): void {
  useEffect(() => {
    // Opening it tries again and shows the error.
    const timer = setTimeout(() => void load().catch(() => undefined), AFTER_MS);
    return () => clearTimeout(timer);
  }, [load]);
}
