import { useState } from 'react';
import { session } from '../api/session.ts';

/**
 * Ends the session here and at the issuer. @returns what it says when it could not be ended, and what does it
 */
export function useSignOut(): { error: unknown; isPending: boolean; signOut(): Promise<void> } {
  const [error, setError] = useState<unknown>();
  const [isPending, setPending] = useState(false);
  return {
    error,
    isPending,
    async signOut() {
      setPending(true);
      setError(undefined);
      try {
        window.location.assign(await session.signOut());
      } catch (failure) {
        setError(failure);
        setPending(false);
      }
    },
  };
}
