import { useState, useSyncExternalStore } from 'react';
import { type Person, type SessionState, session } from '../api/session.ts';

/** Who is signed in, or was until a moment ago. */
export const useSessionState = (): SessionState => useSyncExternalStore(session.subscribe, session.state);

/**
 * The signed-in user.
 * @throws Error outside of the gate
 */
export function usePerson(): Person {
  const state = useSessionState();
  if (state.kind !== 'present' && state.kind !== 'ended') throw new Error('there is no signed-in user');
  return state.person;
}

/** Members see, admins change. */
export const useIsAdmin = (): boolean => usePerson().role === 'admin';

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
