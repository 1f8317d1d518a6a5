import { useSyncExternalStore } from 'react';

/** A hook that tells whether a media query holds. */
export function mediaQuery(query: string): () => boolean {
  const list = window.matchMedia(query);
  const subscribe = (listener: () => void) => {
    list.addEventListener('change', listener);
    return () => list.removeEventListener('change', listener);
  };
  return () => useSyncExternalStore(subscribe, () => list.matches);
}
