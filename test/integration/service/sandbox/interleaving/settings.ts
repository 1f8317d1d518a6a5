import { type Answer, type Caller, type Callers, markOf, Violation } from './caller.ts';
import type { Account, Environment, Key, Span, Thing, World } from './world.ts';
import { isBefore } from './world.ts';

const SCOPES = ['write:webhooks', 'write:conversations'];
const KEYS = '/settings/api-keys';
const SANDBOX = '/settings/sandbox';

/** Calls of users about an account's sandbox and keys, and the answers that they must get. */
export function settings(world: World, { call, list }: Callers) {
  const beginning = (): Span => ({ from: world.tick(), to: Number.POSITIVE_INFINITY });

  function insist(
    holds: boolean,
    what: string,
    { account, as }: Caller,
    { status, data, span }: Answer,
  ): void {
    if (holds) return;
    const { provisions, resets, sandboxOrgId } = account;
    const told = { status, data, span, provisions, resets, sandboxOrgId };
    throw new Violation(`${as} ${account.number} ${what}: ${JSON.stringify(told)}`);
  }

  /** Whether a call must find a sandbox, and whether it may. */
  const provisioned = ({ provisions }: Account, span: Span): { surely: boolean; perhaps: boolean } => ({
    surely: provisions.some((provision) => provision.made !== undefined && isBefore(provision, span)),
    perhaps: provisions.some(({ from }) => from < span.to),
  });

  function keep(
    account: Account,
    environment: Environment,
    data: { id: string; secretOnce: string },
    issued: Span,
  ): Key {
    const key = { secret: data.secretOnce, environment, id: data.id, issued };
    account.keys.push(key);
    return key;
  }

  return {
    async provision(caller: Caller): Promise<void> {
      const { account } = caller;
      const provision: Account['provisions'][number] = beginning();
      if (caller.as === 'admin') account.provisions.push(provision);
      const body = { name: markOf(caller), scopes: SCOPES };
      const answer = await call(caller, 'POST', `${SANDBOX}/provision`, { body });
      provision.to = answer.span.to;
      if (caller.as !== 'admin') return insist(answer.status === 403, 'is no admin', caller, answer);
      insist(answer.status === 201, 'was to have a sandbox', caller, answer);
      const { sandboxOrganizationId, provisioned: made, key } = Object(answer.data);
      account.sandboxOrgId ??= sandboxOrganizationId;
      insist(account.sandboxOrgId === sandboxOrganizationId, 'has two sandboxes', caller, answer);
      const others = account.provisions.filter((other) => other !== provision);
      insist(!(made && others.some((other) => other.made === true)), 'made it twice', caller, answer);
      insist(
        !(made && provisioned({ ...account, provisions: others }, answer.span).surely),
        'made it again',
        caller,
        answer,
      );
      provision.made = made;
      keep(account, 'sandbox', key, answer.span);
    },

    async reset(caller: Caller): Promise<void> {
      const { account } = caller;
      const reset = beginning();
      if (caller.as === 'admin') account.resets.push(reset);
      const answer = await call(caller, 'POST', `${SANDBOX}/reset`);
      reset.to = answer.span.to;
      if (caller.as !== 'admin') return insist(answer.status === 403, 'is no admin', caller, answer);
      const { surely, perhaps } = provisioned(account, answer.span);
      if (answer.status === 409) {
        insist(!surely, 'has a sandbox to reset', caller, answer);
        account.resets.splice(account.resets.indexOf(reset), 1);
        return;
      }
      insist(answer.status === 200 && perhaps, 'reset what is not there', caller, answer);
      account.sandboxOrgId ??= Object(answer.data).sandboxOrganizationId;
      insist(
        Object(answer.data).sandboxOrganizationId === account.sandboxOrgId,
        'reset another sandbox',
        caller,
        answer,
      );
    },

    async readSandbox(caller: Caller): Promise<void> {
      const { account } = caller;
      const answer = await call(caller, 'GET', SANDBOX);
      const { surely, perhaps } = provisioned(account, answer.span);
      if (answer.status === 404) return insist(!surely, 'has a sandbox to read', caller, answer);
      insist(answer.status === 200 && perhaps, 'reads what is not there', caller, answer);
      account.sandboxOrgId ??= Object(answer.data).sandboxOrganizationId;
      insist(
        Object(answer.data).sandboxOrganizationId === account.sandboxOrgId,
        'reads another sandbox',
        caller,
        answer,
      );
    },

    async createKey(caller: Caller): Promise<void> {
      const answer = await call(caller, 'POST', KEYS, { body: { name: markOf(caller), scopes: SCOPES } });
      if (caller.as !== 'admin') return insist(answer.status === 403, 'is no admin', caller, answer);
      insist(answer.status === 201, 'was to have a key', caller, answer);
      keep(caller.account, 'live', Object(answer.data), answer.span);
    },

    async listKeys(caller: Caller, limit: number): Promise<void> {
      if (caller.as !== 'admin') return;
      const own = ({ kind, owner }: Thing) => kind === 'key' && owner === `account ${caller.account.number}`;
      await list(caller, KEYS, { limit, expected: () => [...world.things.values()].filter(own) });
    },

    /** Revokes a key of any account, which has no effect on keys of others. */
    async revoke(caller: Caller, key: Key): Promise<void> {
      const revocation = beginning();
      const isOwn = caller.account.keys.includes(key) && caller.as === 'admin';
      const earlier = key.revoked;
      if (isOwn) key.revoked ??= revocation;
      const answer = await call(caller, 'DELETE', `${KEYS}/${key.id}`);
      revocation.to = answer.span.to;
      insist(answer.status === (caller.as === 'admin' ? 204 : 403), 'revokes', caller, answer);
      // Of two concurrent calls either may be first, and the key is revoked when one of them ends.
      if (isOwn && earlier !== undefined) earlier.to = Math.min(earlier.to, revocation.to);
    },
  };
}
