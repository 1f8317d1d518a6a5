import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type Caller, type Callers, Unavailable } from './caller.ts';
import { data } from './data.ts';
import { settings } from './settings.ts';
import type { Account, Key, Thing, World } from './world.ts';

export const ACCOUNTS = 5;

/** The share of operations that use a new resource of the caller. */
const NEW = 5;

/** Relative frequency of each operation. */
const WEIGHTS = {
  provision: 4,
  'provision, as who may not': 1,
  reset: 6,
  'reset, as who may not': 1,
  'read the sandbox': 3,
  'create a key': 2,
  'create a key, as who may not': 1,
  'list keys': 2,
  'revoke a key': 3,
  'create a conversation': 10,
  'create a conversation once': 6,
  'list conversations': 6,
  'create a message': 10,
  'register an endpoint': 5,
  'list endpoints': 3,
  'change an endpoint': 2,
  'delete an endpoint': 1,
  'test an endpoint': 8,
  'list messages': 6,
  'list deliveries': 8,
  read: 12,
  'read a delivery': 8,
} as const;
type Action = keyof typeof WEIGHTS;

/** An operation, with numbers that select among the resources that exist by then. */
export interface Operation {
  action: Action;
  account: number;
  as: 'live' | 'sandbox';
  /** Selects the key. */
  key: number;
  /** Whether the operation deliberately uses a resource of another owner. */
  toOthers: boolean;
  thing: number;
  /** Page size of listings: small, so that there are pages, or large. */
  limit: 2 | 100;
}

export const operation: fc.Arbitrary<Operation> = fc.record({
  action: fc.oneof(
    ...Object.entries(WEIGHTS).map(([action, weight]) => ({
      weight,
      arbitrary: fc.constant(action as Action),
    })),
  ),
  account: fc.nat({ max: ACCOUNTS - 1 }),
  as: fc.constantFrom('live', 'sandbox', 'sandbox'),
  key: fc.nat({ max: 1000 }),
  toOthers: fc.boolean(),
  thing: fc.nat({ max: 10_000 }),
  limit: fc.constantFrom(2, 100),
});

/**
 * Runs operations.
 * @param receiver origin of the endpoints
 */
export function doing(world: World, callers: Callers, receiver: string) {
  const { provision, reset, readSandbox, createKey, listKeys, revoke } = settings(world, callers);
  const on = data(world, callers, receiver);
  // All callers share them.
  const idempotencyKeys = Array.from({ length: 3 }, () => randomUUID());

  const admin = (account: Account): Caller => ({ account, as: 'admin', credential: account.live.session });
  const member = (account: Account): Caller => ({ account, as: 'member', credential: account.member });
  const holder = (account: Account, key: Key): Caller => ({
    account,
    as: key.environment,
    credential: key.secret,
    key,
  });

  function thingOf(
    kinds: string,
    { thing, toOthers }: Operation,
    { account, as }: Caller,
  ): Thing | undefined {
    const all = [...world.things.values()].filter(({ kind, path }) => path !== '' && kinds.includes(kind));
    const chosen = all.filter(({ owner }) => (owner === `${as} ${account.number}`) !== toOthers);
    // Every other time a new resource: resets have deleted most of the old ones.
    const few = thing % 2 === 0 ? chosen.slice(-NEW) : chosen;
    return few[thing % few.length];
  }

  const ACTIONS: Record<Action, (operation: Operation, caller: Caller) => Promise<unknown> | undefined> = {
    provision: (_, { account }) => provision(admin(account)),
    'provision, as who may not': (_, { account }) => provision(member(account)),
    reset: async (_, caller) => {
      await lookAround(caller);
      await reset(admin(caller.account));
      await lookAround(caller);
    },
    'reset, as who may not': (_, { account, as, credential }) =>
      // Only the form of the key is checked here.
      reset(as === 'live' ? member(account) : { account, as, credential }),
    'read the sandbox': (_, { account }) => readSandbox(member(account)),
    'create a key': (_, { account }) => createKey(admin(account)),
    'create a key, as who may not': (_, { account, as, credential }) =>
      createKey({ account, as, credential }),
    'list keys': ({ limit }, { account }) => listKeys(admin(account), limit),
    'revoke a key': ({ toOthers, thing }, { account }) => {
      const accounts = world.accounts.filter((other) => (other === account) !== toOthers);
      const keys = accounts.flatMap((other) => other.keys).filter(({ id }) => id !== undefined);
      const key = keys[thing % keys.length];
      return key && revoke(admin(account), key);
    },
    'create a conversation': (_, caller) => on.createConversation(caller, undefined),
    'create a conversation once': ({ thing }, caller) =>
      on.createConversation(caller, idempotencyKeys[thing % idempotencyKeys.length]),
    'list conversations': ({ limit }, caller) => on.listConversations(caller, limit),
    'create a message': named('cnv', (caller, thing) => on.createMessage(caller, thing)),
    'register an endpoint': (_, caller) => on.register(caller, randomUUID()),
    'list endpoints': ({ limit }, caller) => on.listWebhooks(caller, limit),
    'change an endpoint': named('whk', (caller, thing) => on.update(caller, thing)),
    'delete an endpoint': named('whk', (caller, thing) => on.remove(caller, thing)),
    'test an endpoint': named('whk', (caller, thing) => on.testWebhook(caller, thing, randomUUID())),
    'list messages': named('cnv', (caller, thing, { limit }) => on.listBelow(caller, thing, limit)),
    'list deliveries': named('whk', (caller, thing, { limit }) => on.listBelow(caller, thing, limit)),
    read: named('cnv msg whk', (caller, thing) => on.read(caller, thing)),
    'read a delivery': named('dlv', (caller, thing) => on.read(caller, thing)),
  };

  /** Repeats the call: nothing may be cached in between, and all its effects are in the next answer. */
  async function lookAround(caller: Caller): Promise<void> {
    await on.listConversations(caller, 100);
    await on.createConversation(caller, undefined);
    await on.listConversations(caller, 100);
  }

  /** An operation on a resource of the caller or of another owner, if there is one. */
  function named(
    kinds: string,
    act: (caller: Caller, thing: Thing, operation: Operation) => Promise<unknown>,
  ): (operation: Operation, caller: Caller) => Promise<unknown> | undefined {
    return (it, caller) => {
      const thing = thingOf(kinds, it, caller);
      return thing && act(caller, thing, it);
    };
  }

  let unknown = 0;
  async function unlessUnavailable(act: () => Promise<unknown> | undefined): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      unknown += 1;
    }
  }

  return {
    /** Operations that the service was too busy for. */
    unknown: () => unknown,

    async perform(it: Operation): Promise<void> {
      const account = world.accounts[it.account];
      if (account === undefined) throw new Error(`there is no account ${it.account}`);
      const keys = account.keys.filter(({ environment }) => environment === it.as);
      const key = keys[it.key % keys.length];
      // A sandbox that is not provisioned has no keys.
      await unlessUnavailable(() =>
        key === undefined ? provision(admin(account)) : ACTIONS[it.action](it, holder(account, key)),
      );
    },

    /** Reads all resources of all callers while no other call is in progress. */
    async lookAtAll(): Promise<void> {
      for (const account of world.accounts)
        for (const as of ['live', 'sandbox'] as const) {
          const key = account.keys.find(
            ({ environment, revoked }) => environment === as && revoked === undefined,
          );
          if (key === undefined) continue;
          const caller = holder(account, key);
          await unlessUnavailable(() => on.listConversations(caller, 100));
          await unlessUnavailable(() => on.listWebhooks(caller, 100));
          const own = [...world.things.values()].filter(
            ({ owner, path }) => owner === `${as} ${account.number}` && path !== '',
          );
          const looks = own.map((thing) =>
            unlessUnavailable(() =>
              thing.kind === 'cnv' || thing.kind === 'whk'
                ? on.listBelow(caller, thing, 100)
                : on.read(caller, thing),
            ),
          );
          await Promise.all(looks);
        }
    },
  };
}
