import { failureOf, mayPass, unreachable } from './failures.ts';
import type { components } from './schema.gen.ts';

export type Person = components['schemas']['SignedIn'];

/** Whether somebody is signed in here. `ended`: somebody was, and what is on the page is still theirs. */
export type SessionState =
  | { kind: 'unknown' }
  | { kind: 'unreachable'; error: unknown }
  | { kind: 'none' }
  | { kind: 'present'; person: Person }
  | { kind: 'ended'; person: Person };

/** All tabs hear of a sign-in or sign-out in one of them. */
const NEWS = 'session';
/** The session is renewed so long before it ends. */
const RENEW_BEFORE_MS = 5 * 60_000;
/** Before a further look at who is signed in, where the last one failed. */
const PAUSES_MS = [500, 2_000];
/** Between looks at a service that could not be reached: who waits need not press anything. */
const LOOK_AGAIN_MS = 3_000;
/** What timers of browsers can hold. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const MINE = '/api/settings/session';

let state: SessionState = { kind: 'unknown' };
const listeners = new Set<() => void>();
let waiting: PromiseWithResolvers<void> | undefined;
let renewal: Promise<boolean> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const news = new BroadcastChannel(NEWS);

news.addEventListener('message', () => void look());

/** The session of whoever looks at this page. The token itself is in a cookie that no script can read. */
export const session = {
  state: (): SessionState => state,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },

  /** Finds out who is signed in. */
  look,

  /**
   * Settles when requests may be made again after one was refused.
   * @param how `renewed` is tried first, without a word; where that is not enough, somebody has to sign in
   */
  async regained(how: 'renewed' | 'signed in'): Promise<void> {
    if (waiting) return waiting.promise;
    if (how === 'renewed' && (await renewed())) return;
    return end();
  },

  /** Where the issuer's sign-in is. @param returnTo path of this application @throws ApiFailure */
  async signInAddress(returnTo: string, loginHint?: string): Promise<string> {
    const { location } = await post<{ location: string }>('/api/session/sign-in', 'POST', {
      returnTo,
      ...(loginHint === undefined ? {} : { loginHint }),
    });
    return location;
  },

  /** Ends a sign-in with what the issuer sent back. @returns the path to go on at @throws ApiFailure */
  async finishSignIn(code: string, state: string): Promise<string> {
    const { returnTo } = await post<{ returnTo: string }>('/api/session', 'POST', { code, state });
    news.postMessage('signed-in');
    return returnTo;
  },

  /** Ends the session here. @returns where the issuer's own is ended @throws ApiFailure */
  async signOut(): Promise<string> {
    const { location } = await post<{ location: string }>('/api/session', 'DELETE');
    news.postMessage('signed-out');
    return location;
  },
};

function become(next: SessionState): void {
  state = next;
  clearTimeout(timer);
  if (next.kind === 'present') {
    const inMs = Date.parse(next.person.expiresAt) - Date.now() - RENEW_BEFORE_MS;
    timer = setTimeout(() => void renewed(), Math.min(Math.max(inMs, 30_000), MAX_TIMER_MS));
    waiting?.resolve();
    waiting = undefined;
  }
  if (next.kind === 'unreachable') timer = setTimeout(() => void look(), LOOK_AGAIN_MS);
  for (const listener of listeners) listener();
}

/** @returns settles when somebody has signed in */
function end(): Promise<void> {
  waiting ??= Promise.withResolvers<void>();
  const { promise } = waiting;
  if (state.kind === 'present') become({ kind: 'ended', person: state.person });
  else if (state.kind !== 'ended') become({ kind: 'none' });
  return promise;
}

async function look(): Promise<void> {
  const person = await patiently(me).catch((error: unknown) => {
    if (state.kind === 'unknown' || state.kind === 'unreachable') become({ kind: 'unreachable', error });
    return 'unreachable' as const;
  });
  if (person === 'unreachable') return;
  if (person === undefined) {
    if ((state.kind === 'unknown' || state.kind === 'unreachable') && (await renewed())) return;
    void end();
    return;
  }
  // What is on the page belongs to somebody else now.
  const before = state.kind === 'present' || state.kind === 'ended' ? state.person : undefined;
  if (before && (before.userId !== person.userId || before.organizationId !== person.organizationId))
    window.location.reload();
  become({ kind: 'present', person });
}

/** Tries again a few times what may succeed a moment later. */
async function patiently<Result>(action: () => Promise<Result>): Promise<Result> {
  for (const pause of PAUSES_MS) {
    try {
      return await action();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return action();
}

/** Who is signed in, if anybody is. */
async function me(): Promise<Person | undefined> {
  const response = await fetch(MINE).catch((error: unknown) => {
    throw unreachable(error);
  });
  if (response.status === 401) return undefined;
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw failureOf(response, body);
  return (body as { data: Person }).data;
}

/** Renews the session without a word, where the issuer allows it; once for all who ask meanwhile. */
function renewed(): Promise<boolean> {
  renewal ??= (async () => {
    try {
      // Another tab may have renewed it meanwhile: then this one is refused, and the session is there all the same.
      await post('/api/session/renewal', 'POST', {}).catch(() => undefined);
      const person = await me();
      if (person === undefined) return false;
      become({ kind: 'present', person });
      return true;
    } catch {
      return false;
    } finally {
      renewal = undefined;
    }
  })();
  return renewal;
}

async function post<Data>(path: string, method: 'POST' | 'DELETE', body?: object): Promise<Data> {
  const response = await fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw unreachable(error);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw failureOf(response, answer);
  return (answer as { data: Data }).data;
}
