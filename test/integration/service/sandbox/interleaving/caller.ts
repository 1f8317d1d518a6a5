import type { Connection, Exchange } from '../../../../support/exchange.ts';
import {
  type Account,
  type Environment,
  isSurelyGone,
  isSurelyRevoked,
  isSurelyThere,
  isSurelyValid,
  type Key,
  met,
  type Owner,
  overlaps,
  type Span,
  type Thing,
  type World,
} from './world.ts';

/** The caller: a key, or a user with a session. */
export interface Caller {
  account: Account;
  as: Environment | 'admin' | 'member';
  credential: string;
  key?: Key;
}

export interface Answer {
  span: Span;
  status: number;
  data: unknown;
  nextCursor: string | null;
}

/** A caller saw or changed data of another owner, or did not see its own. */
export class Violation extends Error {
  override name = 'Violation';
}

/** The service was busy: the outcome of the call is unknown. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

/** In requests and rows, so that content without an identifier shows its owner. */
export const markOf = ({ account, as }: Pick<Caller, 'account' | 'as'>): string =>
  `of-${account.number}-${as === 'live' || as === 'sandbox' ? as : 'account'}`;
export const MARK = /\bof-(\d+)-(live|sandbox|account)\b/g;
export const ID = /\b([a-z]{3})_[0-9a-f]{32}\b/g;

/** Organizations and keys are settings, which all users of an account can read. */
export const ownerOf = (id: string, { account, as }: Pick<Caller, 'account' | 'as'>): Owner =>
  /^(org|key)_/.test(id) || (as !== 'live' && as !== 'sandbox')
    ? `account ${account.number}`
    : `${as} ${account.number}`;

/** Makes calls for all callers, and checks each answer against the model. */
export function callers(world: World, connection: Connection) {
  async function call(
    caller: Caller,
    method: string,
    path: string,
    { body, once }: { body?: unknown; once?: string } = {},
  ): Promise<Answer> {
    const span = { from: world.tick(), to: Number.POSITIVE_INFINITY };
    const exchange = await connection.send({
      method,
      target: `/api${path}`,
      headers: [
        ['authorization', `Bearer ${caller.credential}`],
        ...(once === undefined ? [] : [['idempotency-key', once] as const]),
        ...(body === undefined ? [] : [['content-type', 'application/json'] as const]),
      ],
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (exchange.status === 503) throw new Unavailable(`${method} ${path}`);
    span.to = world.tick();
    judge(caller, exchange, span);
    const { data, nextCursor = null } = exchange.text === '' ? {} : JSON.parse(exchange.text);
    return { span, status: exchange.status, data, nextCursor };
  }

  /** Checks that every answer must pass. */
  function judge(caller: Caller, exchange: Exchange, span: Span): void {
    const { status, text, sent } = exchange;
    const refuse = (what: string) =>
      fail(what, caller, { method: sent.method, target: sent.target, status, text }, span);
    if (status >= 500) refuse('was answered with a failure');
    if (caller.key !== undefined && status === 401 && isSurelyValid(caller.key, span))
      refuse('has a good key');
    if (caller.key !== undefined && status !== 401 && isSurelyRevoked(caller.key, span))
      refuse('has a revoked key');
    const marks = new Set([`of-${caller.account.number}-account`, markOf(caller)]);
    for (const [mark] of text.matchAll(MARK)) if (!marks.has(mark)) refuse(`was given what is ${mark}`);
    for (const [id, kind = ''] of text.matchAll(ID)) {
      const owner = ownerOf(id, caller);
      const cached = world.things.get(id);
      if (cached === undefined) world.things.set(id, { id, kind, owner, path: '', first: span, last: span });
      else if (cached.owner !== owner) refuse(`was given ${id} of ${cached.owner}`);
      else if (isSurelyGone(world, cached, span)) refuse(`was given ${id}, which was deleted by a reset`);
      else met(cached, span);
    }
  }

  return {
    call,

    /**
     * Makes a call that names a resource, and that succeeds or is a 404.
     * @returns the answer when it succeeded
     */
    async callOn(
      caller: Caller,
      thing: Thing,
      [method, path]: [string, string],
      success: number,
      request: { body?: unknown; once?: string } = {},
    ): Promise<Answer | undefined> {
      const answer = await call(caller, method, path, request);
      return isFound(caller, thing, answer, success) ? answer : undefined;
    },

    /**
     * Reads a listing page by page, and checks that it has all that must exist.
     * @param parent the resource that the listing is below, if any
     */
    async list(
      caller: Caller,
      path: string,
      { limit, expected, parent }: { limit: number; expected(): Iterable<Thing>; parent?: Thing },
    ): Promise<{ id: string }[]> {
      const items: { id: string }[] = [];
      const whole = { from: Number.POSITIVE_INFINITY, to: 0 };
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = new URLSearchParams({ limit: String(limit), ...(cursor === '' ? {} : { cursor }) });
        const answer = await call(caller, 'GET', `${path}?${query}`);
        whole.from = Math.min(whole.from, answer.span.from);
        whole.to = answer.span.to;
        if (cursor !== '' && answer.status === 400) {
          // A cursor of an earlier generation is invalid.
          if (caller.account.resets.some((reset) => overlaps(reset, whole))) return items;
          fail('has a good cursor', caller, answer, whole);
        }
        if (answer.status === 401) return items;
        if (parent !== undefined && !isFound(caller, parent, answer, 200)) return items;
        if (answer.status !== 200) fail('was to have a list', caller, answer, whole);
        items.push(...(answer.data as { id: string }[]));
        cursor = answer.nextCursor;
      }
      const listed = new Set(items.map(({ id }) => id));
      for (const thing of expected())
        if (isSurelyThere(world, thing, whole) && !listed.has(thing.id))
          fail(`does not find ${thing.id} in its list`, caller, { path, thing }, whole);
      return items;
    },
  };

  /** Checks whether a call reached the resource that it names, as it must, may, or must not. */
  function isFound(caller: Caller, thing: Thing, answer: Answer, success: number): boolean {
    const { span, status } = answer;
    if (status === 401) return false;
    const refuse = (what: string) => fail(what, caller, { thing, ...answer }, span);
    const isOwn = thing.owner === ownerOf(thing.id, caller);
    if (status === 404) {
      if (isOwn && isSurelyThere(world, thing, span)) refuse(`does not find ${thing.id}`);
      return false;
    }
    if (status !== success) refuse(`was answered ${status} on ${thing.id}`);
    if (!isOwn) refuse(`reached ${thing.id} of ${thing.owner}`);
    if (isSurelyGone(world, thing, span)) refuse(`reached ${thing.id}, which was deleted by a reset`);
    met(thing, span);
    return true;
  }

  function fail(what: string, caller: Caller, details: unknown, span: Span): never {
    const { account, as } = caller;
    const told = { caller: `${as} ${account.number}`, span, details, resets: account.resets };
    throw new Violation(`${told.caller} ${what}: ${JSON.stringify(told)}`);
  }
}
export type Callers = ReturnType<typeof callers>;
