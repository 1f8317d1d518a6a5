import type { Tenant } from '../../../../support/tenant.ts';

/** When something was in progress, in ticks of the world's clock. A later event has a higher tick. */
export interface Span {
  from: number;
  /** Infinite until it ends. */
  to: number;
}

/** The owner of data; settings belong to the account that both environments share. */
export type Environment = 'live' | 'sandbox';
export type Owner = `${Environment | 'account'} ${number}`;

export interface Key {
  secret: string;
  environment: Environment;
  /** Absent for the first key, which no test revokes. */
  id?: string;
  issued: Span;
  revoked?: Span;
}

/** A resource that was created or seen. */
export interface Thing {
  id: string;
  kind: string;
  owner: Owner;
  /** The path that reads it. */
  path: string;
  /** The call that first named it. */
  first: Span;
  /** The last call that reached it; undefined while none has. */
  last?: Span | undefined;
  deleted?: Span;
}

/** A live organization, its sandbox, its users and its keys. */
export interface Account {
  number: number;
  live: Tenant;
  /** A session of a member. */
  member: string;
  keys: Key[];
  sandboxOrgId?: string;
  provisions: (Span & { made?: boolean })[];
  resets: Span[];
}

/** The model: what was done, and so what each caller may and must see. */
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

/** Endpoints outlive a reset, as settings do (docs/specification.md, Sandbox reset). */
const isDeletedByResets = ({ kind, owner }: Thing): boolean =>
  owner.startsWith('sandbox') && kind !== 'whk' && kind !== 'org' && kind !== 'key';

function resetsOf({ accounts }: World, thing: Thing): Span[] {
  const account = accounts[Number(thing.owner.split(' ')[1])];
  return isDeletedByResets(thing) ? (account?.resets ?? []) : [];
}

/** Deletions of it and of its parents. */
const deletionsOf = ({ things }: World, { id, path }: Thing): Span[] =>
  [id, ...path.split('/')].flatMap((part) => things.get(part)?.deleted ?? []);

/**
 * Whether a call of its owner can no longer reach it: it existed before a reset or deletion that ended before
 * the call.
 */
export function isSurelyGone(world: World, thing: Thing, call: Span): boolean {
  if (deletionsOf(world, thing).some((deletion) => isBefore(deletion, call))) return true;
  return resetsOf(world, thing).some((reset) => isBefore(thing.first, reset) && isBefore(reset, call));
}

/** Whether a call of its owner must reach it: nothing can have deleted it since it was last reached. */
export function isSurelyThere(world: World, thing: Thing, call: Span): boolean {
  if (thing.last === undefined || !isBefore(thing.last, call)) return false;
  const since = { from: thing.last.from, to: call.to };
  return ![...resetsOf(world, thing), ...deletionsOf(world, thing)].some((span) => overlaps(span, since));
}

/** Records that a call has reached it. */
export function met(thing: Thing, call: Span): void {
  if (thing.last === undefined || call.from > thing.last.from) thing.last = call;
}

export const isSurelyRevoked = ({ revoked }: Key, call: Span): boolean =>
  revoked !== undefined && isBefore(revoked, call);
export const isSurelyValid = ({ revoked }: Key, call: Span): boolean =>
  revoked === undefined || isBefore(call, revoked);
