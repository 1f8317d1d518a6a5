import type { Tenant } from '../../../../support/tenant.ts';

/**
 * From when to when something was under way, in ticks of the world's clock: what comes later in truth has a
 * higher tick.
 */
export interface Span {
  from: number;
  /** Infinite until it is over. */
  to: number;
}

/** Whose data it is; settings are an account's, which both kinds of data belong to. */
export type Environment = 'live' | 'sandbox';
export type Owner = `${Environment | 'account'} ${number}`;

export interface Key {
  secret: string;
  environment: Environment;
  /** Unknown of the first one, which nobody revokes. */
  id?: string;
  issued: Span;
  revoked?: Span;
}

/** Something that was made or seen, whatever it is. */
export interface Thing {
  id: string;
  kind: string;
  owner: Owner;
  /** Where it is read. */
  path: string;
  /** When it was first heard of. */
  first: Span;
  /** When it was last met; undefined while it has only been announced. */
  last?: Span | undefined;
  deleted?: Span;
}

/** A live organization, its sandbox, its people and its keys. */
export interface Account {
  number: number;
  live: Tenant;
  /** Session of somebody who is no admin. */
  member: string;
  keys: Key[];
  sandboxOrgId?: string;
  provisions: (Span & { made?: boolean })[];
  resets: Span[];
}

/** All that is known of what was done, and so of what each caller may and must see. */
export interface World {
  accounts: Account[];
  things: Map<string, Thing>;
  tick(): number;
}

export function aWorld(accounts: Account[]): World {
  let ticks = 0;
  return {
    accounts,
    things: new Map(),
    tick() {
      ticks += 1;
      return ticks;
    },
  };
}

export const isBefore = (one: Span, other: Span): boolean => one.to <= other.from;
export const overlaps = (one: Span, other: Span): boolean => !isBefore(one, other) && !isBefore(other, one);

/** Endpoints outlive a reset, as settings do (public-api.md, POST /api/settings/sandbox/reset). */
const isWipedByResets = ({ kind, owner }: Thing): boolean =>
  owner.startsWith('sandbox') && kind !== 'whk' && kind !== 'org' && kind !== 'key';

function resetsOf({ accounts }: World, thing: Thing): Span[] {
  const account = accounts[Number(thing.owner.split(' ')[1])];
  return isWipedByResets(thing) ? (account?.resets ?? []) : [];
}

/** Deletions of it, and of what it is below. */
const deletionsOf = ({ things }: World, { id, path }: Thing): Span[] =>
  [id, ...path.split('/')].flatMap((part) => things.get(part)?.deleted ?? []);

/**
 * Whether a call of its owner can no longer meet it: it was there before a reset, or a deletion, which was
 * over before the call.
 */
export function isSurelyGone(world: World, thing: Thing, call: Span): boolean {
  if (deletionsOf(world, thing).some((deletion) => isBefore(deletion, call))) return true;
  return resetsOf(world, thing).some((reset) => isBefore(thing.first, reset) && isBefore(reset, call));
}

/** Whether a call of its owner has to meet it: nothing may have taken it away since it was last there. */
export function isSurelyThere(world: World, thing: Thing, call: Span): boolean {
  if (thing.last === undefined || !isBefore(thing.last, call)) return false;
  const since = { from: thing.last.from, to: call.to };
  return ![...resetsOf(world, thing), ...deletionsOf(world, thing)].some((span) => overlaps(span, since));
}

/** Notes that a call has met it. */
export function met(thing: Thing, call: Span): void {
  if (thing.last === undefined || call.from > thing.last.from) thing.last = call;
}

export const isSurelyRevoked = ({ revoked }: Key, call: Span): boolean =>
  revoked !== undefined && isBefore(revoked, call);
export const isSurelyValid = ({ revoked }: Key, call: Span): boolean =>
  revoked === undefined || isBefore(call, revoked);
