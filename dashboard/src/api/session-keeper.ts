import { ApiFailure, failureOf, mayPass, unreachable } from './failures.ts';
import type { components } from './schema.gen.ts';

export type Person = components['schemas']['Session'];

/**
 * State of the sign-in. `ended`: the session has expired, and the page still shows the user's data.
 * `leaving`: the data is another user's, and the page is about to reload.
 */
export type SessionState =
  | { kind: 'unknown' }
  | { kind: 'unreachable'; error: unknown }
  | { kind: 'none' }
  | { kind: 'present'; person: Person }
  | { kind: 'ended'; person: Person }
  | { kind: 'leaving' };

/** Message between tabs. */
export type News = 'signed-in' | 'signed-out';

/** What a session needs of the browser that it is kept in. */
export interface Browser {
  /** @throws TypeError when nothing answers */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /**
   * Uses the session's cookies one at a time, in all tabs: the order of responses must not decide who is
   * signed in.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
  tell(news: News): void;
  /** Reloads the page. */
  reload(): void;
  /** @returns calls it off */
  after(milliseconds: number, action: () => void): () => void;
  /** Milliseconds since the epoch. */
  now(): number;
}

export type SessionKeeper = ReturnType<typeof keepSession>;

/** Time before its end at which the session is renewed. */
const RENEW_BEFORE_MS = 5 * 60_000;
/** Pause after a failed renewal. */
const RENEW_AGAIN_MS = 30_000;
/** Pauses before retries. */
const PAUSES_MS = [500, 2_000];
/** Polling interval while the service cannot be reached. */
const LOOK_AGAIN_MS = 3_000;
/** What timers of browsers can hold. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const MINE = '/api/settings/session';

/** The session of the page's user. The token is in a cookie that no script can read. */
export function keepSession(browser: Browser) {
  let state: SessionState = { kind: 'unknown' };
  const listeners = new Set<() => void>();
  let waiting: PromiseWithResolvers<void> | undefined;
  let renewal: Promise<boolean> | undefined;
  let callOff: (() => void) | undefined;

  const post = <Data>(path: string, method: 'POST' | 'DELETE', body?: object) =>
    dataOf<Data>(
      browser.fetch(path, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );

  /** The signed-in user, if there is one. */
  const me = (): Promise<Person | undefined> =>
    dataOf<Person>(browser.fetch(MINE)).catch((error: unknown) => {
      if (isRefusal(error)) return undefined;
      throw error;
    });

  function become(next: SessionState): void {
    if (state.kind === 'leaving') return;
    state = next;
    callOff?.();
    callOff = undefined;
    for (const listener of listeners) listener();
  }

  function later(milliseconds: number, action: () => Promise<unknown>): void {
    callOff = browser.after(Math.min(milliseconds, MAX_TIMER_MS), () => void action());
  }

  /** The page's data belongs to another user than the one signed in now. */
  function leave(): void {
    become({ kind: 'leaving' });
    browser.reload();
  }

  /** @param canBeRenewed as far as is known */
  function admit(person: Person, canBeRenewed = true): void {
    const before = state.kind === 'present' || state.kind === 'ended' ? state.person : undefined;
    if (before && (before.userId !== person.userId || before.organizationId !== person.organizationId)) {
      leave();
      return;
    }
    become({ kind: 'present', person });
    const left = Date.parse(person.expiresAt) - browser.now();
    if (canBeRenewed) later(Math.max(left - RENEW_BEFORE_MS, RENEW_AGAIN_MS), renewInTime);
    else later(Math.max(left, 0) + LOOK_AGAIN_MS, look);
    waiting?.resolve();
    waiting = undefined;
  }

  /** @returns settles when the same person has signed in again */
  function end(): Promise<void> {
    waiting ??= Promise.withResolvers<void>();
    const { promise } = waiting;
    if (state.kind === 'present') become({ kind: 'ended', person: state.person });
    else if (state.kind !== 'ended') become({ kind: 'none' });
    return promise;
  }

  async function look(): Promise<void> {
    try {
      const person = await patiently(me);
      if (person) admit(person);
      else if (!(await renewed())) void end();
    } catch (error) {
      if (state.kind !== 'unknown' && state.kind !== 'unreachable') return;
      become({ kind: 'unreachable', error });
      later(LOOK_AGAIN_MS, look);
    }
  }

  /**
   * Renews the session silently, where the issuer allows it; concurrent callers share one renewal.
   * @returns whether there is a session now, of any user
   * @throws ApiFailure when that is unknown
   */
  function renewed(): Promise<boolean> {
    renewal ??= browser
      .exclusively(async () => {
        const known = await patiently(me);
        // Another tab may have renewed it. An issuer may take a repeated refresh token for a stolen one (RFC
        // 9700, 4.14.2).
        if (known && Date.parse(known.expiresAt) - browser.now() > RENEW_BEFORE_MS) {
          admit(known);
          return true;
        }
        const isRefused = await patiently(() => post('/api/session/renewal', 'POST', {})).then(
          () => false,
          (error: unknown) => {
            if (isRefusal(error)) return true;
            throw error;
          },
        );
        const person = isRefused ? known : await patiently(me);
        if (person) admit(person, !isRefused);
        return person !== undefined;
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  async function renewInTime(): Promise<void> {
    try {
      if (!(await renewed())) void end();
    } catch {
      // It is still good for some minutes.
      if (state.kind === 'present') later(RENEW_AGAIN_MS, renewInTime);
    }
  }

  /** Tries again a few times what may succeed a moment later. */
  async function patiently<Result>(action: () => Promise<Result>): Promise<Result> {
    for (const pause of PAUSES_MS) {
      try {
        return await action();
      } catch (error) {
        if (!mayPass(error)) throw error;
        await new Promise<void>((resolve) => browser.after(pause, resolve));
      }
    }
    return action();
  }

  return {
    state: (): SessionState => state,
    /** @returns ends the subscription */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Finds out who is signed in. */
    look,
    /** Handles a message of another tab. */
    async hear(news: News): Promise<void> {
      const isSomebodys = state.kind === 'present' || state.kind === 'ended';
      // After a sign-out no tab may show the user's data.
      if (news === 'signed-out' && isSomebodys) leave();
      else await look();
    },
    /**
     * Resolves when a refused request may be repeated; never, when another user has signed in meanwhile.
     * @param how `renewed` tries a silent renewal first, then asks the user to sign in
     * @throws ApiFailure when it is unknown whether the session can be renewed
     */
    async regained(how: 'renewed' | 'signed in'): Promise<void> {
      if (waiting === undefined && how === 'renewed' && (await renewed())) {
        if (state.kind !== 'leaving') return;
      }
      return state.kind === 'leaving' ? NEVER : end();
    },
    /** Where the issuer's sign-in is. @param returnTo path of this application @throws ApiFailure */
    async signInAddress(returnTo: string, loginHint?: string): Promise<string> {
      const { location } = await post<{ location: string }>('/api/session/sign-in', 'POST', {
        returnTo,
        ...(loginHint === undefined ? {} : { loginHint }),
      });
      return location;
    },
    /**
     * Ends a sign-in with what the issuer sent back.
     * @returns the path to go on at
     * @throws ApiFailure of type `NOT_KNOWN_HERE` when the account's organization is none of the service's
     */
    finishSignIn: (code: string, given: string): Promise<string> =>
      browser.exclusively(async () => {
        const { returnTo } = await post<{ returnTo: string }>('/api/session', 'POST', { code, state: given });
        if ((await patiently(me)) === undefined)
          throw new ApiFailure('', { status: 403, type: 'NOT_KNOWN_HERE' });
        browser.tell('signed-in');
        return returnTo;
      }),
    /** Ends the session here and in all tabs. @returns where the issuer's own is ended @throws ApiFailure */
    async signOut(): Promise<string> {
      const { location } = await browser.exclusively(() =>
        post<{ location: string }>('/api/session', 'DELETE'),
      );
      browser.tell('signed-out');
      // Nor when the browser shows the page again that it has kept (back/forward cache).
      become({ kind: 'none' });
      return location;
    },
  };
}

const NEVER = new Promise<void>(() => undefined);

/** Whether the session is invalid, as opposed to unknown. */
const isRefusal = (error: unknown): boolean => error instanceof ApiFailure && error.status === 401;

async function dataOf<Data>(call: Promise<Response>): Promise<Data> {
  const response = await call.catch((error: unknown) => {
    throw unreachable(error);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw failureOf(response, answer);
  return (answer as { data: Data }).data;
}
