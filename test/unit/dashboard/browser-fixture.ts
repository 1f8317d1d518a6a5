import {
  keepSession,
  type News,
  type Person,
  type SessionKeeper,
} from '../../../dashboard/src/api/session-keeper.ts';

export const HOUR_MS = 3_600_000;

export const ADA: Person = {
  userId: 'user-ada',
  email: 'ada@example.com',
  role: 'admin',
  organizationId: 'org_ada',
  organizationName: 'Ada',
  expiresAt: new Date(HOUR_MS).toISOString(),
};
export const EVE: Person = {
  ...ADA,
  userId: 'user-eve',
  email: 'eve@example.com',
  organizationId: 'org_eve',
};

interface Renewal {
  token: string;
  person: Person;
}

/** A browser with its cookies, the service behind it, and their common clock. */
export class Place {
  nowMs = 0;
  session: Person | undefined;
  /** The refresh token in the cookie, which is valid once (RFC 9700, 4.14.2). */
  renewal: Renewal | undefined;
  /** Of an account whose organization the service does not know. */
  isUnknown = false;
  /** The answer to all requests, while it is set. */
  trouble: number | 'nothing' | undefined;
  readonly asked: string[] = [];
  readonly tabs: { keeper: SessionKeeper; reloads: number }[] = [];
  #timers: { at: number; action: () => void }[] = [];
  #lock: Promise<unknown> = Promise.resolve();
  #tokens = 0;

  signIn(person: Person, canBeRenewed = true): void {
    this.session = { ...person, expiresAt: new Date(this.nowMs + HOUR_MS).toISOString() };
    this.#tokens += 1;
    this.renewal = canBeRenewed ? { token: String(this.#tokens), person } : undefined;
  }

  open(): { keeper: SessionKeeper; reloads: number } {
    const keeper = keepSession({
      fetch: async (path, { method = 'GET' } = {}) => {
        this.asked.push(`${method} ${path}`);
        return this.#answer(method, path);
      },
      exclusively: (work) => {
        const mine = this.#lock.then(work);
        this.#lock = mine.catch(() => undefined);
        return mine;
      },
      tell: (news: News) => {
        for (const other of this.tabs) if (other !== tab) void other.keeper.hear(news);
      },
      reload: () => {
        tab.reloads += 1;
      },
      after: (milliseconds, action) => {
        const timer = { at: this.nowMs + milliseconds, action };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((one) => one !== timer);
        };
      },
      now: () => this.nowMs,
    });
    const tab = { keeper, reloads: 0 };
    this.tabs.push(tab);
    return tab;
  }

  async #answer(method: string, path: string): Promise<Response> {
    // The duration of a request in the service.
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    if (this.trouble === 'nothing') throw new TypeError('Failed to fetch');
    if (this.trouble !== undefined) return this.#problem(this.trouble);
    if (path === '/api/settings/session')
      return this.#isGood() && !this.isUnknown ? Response.json({ data: this.session }) : this.#problem(401);
    if (path === '/api/session/renewal') return this.#renew();
    if (method === 'DELETE') {
      this.session = undefined;
      this.renewal = undefined;
      return Response.json({ data: { location: 'https://issuer.example.com/sign-out' } });
    }
    return Response.json({ data: { returnTo: '/deliveries' } });
  }

  #renew(): Response {
    const presented = this.renewal;
    if (presented === undefined) return this.#problem(401);
    this.signIn(presented.person);
    return Response.json({ data: {} });
  }

  #isGood = () => this.session !== undefined && Date.parse(this.session.expiresAt) > this.nowMs;

  #problem = (status: number) =>
    Response.json({ error: { type: 'SOME', message: 'Some text.', requestId: 'req_1' } }, { status });

  /** Lets time pass, with the events that are due in it. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.nowMs + milliseconds;
    await settle();
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.nowMs = Math.max(this.nowMs, next.at);
      next.action();
      await settle();
    }
    this.nowMs = end;
  }

  count(call: string): number {
    return this.asked.filter((asked) => asked === call).length;
  }
}

/** Waits until only timers are pending. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}
