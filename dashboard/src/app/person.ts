import { useSyncExternalStore } from 'react';
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
