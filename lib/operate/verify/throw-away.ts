import { expression } from '../../../functions/aws/expression.ts';
import { KeyId, type OrgId } from '../../../functions/aws/ids.ts';
import { EXISTS, queryAll, remove, type Table, toExpiry, update } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { apiKeyStore, hashApiKey, issueKey, Scope } from '../../../functions/tenancy/api-keys.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { createSandbox, sandboxStore } from '../../../functions/tenancy/organizations.ts';
import { purgeStore } from '../../../functions/tenancy/purge.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { CheckFailed } from './check.ts';

/**
 * Longer than a message about an organization may exist: a worker keeps a message whose organization it does
 * not find, so the organization's own rows are left to DynamoDB's expiry.
 */
const EXPIRES_AFTER_DAYS = 4;

/** Creates and removes the rows of a verification's organization. */
export function throwAwayRows({ service, rates }: { service: Table; rates: Table }, now: () => Date) {
  const { client } = service;

  const rowsAt = (pk: string) => queryAll(service, { where: expression`pk = ${pk}` });
  const keyOf = ({ pk, sk }: Record<string, unknown>) => ({ pk: String(pk), sk: String(sk) });
  const expireAt = (key: { pk: string; sk: string }) =>
    update(service, key, {
      update: expression`SET expiresAt = ${toExpiry(now(), EXPIRES_AFTER_DAYS)}`,
      if: EXISTS,
    });

  async function removeKey(orgId: OrgId, id: KeyId, digest: string): Promise<void> {
    await remove(service, keys.apiKey(digest));
    await remove(service, keys.listedApiKey(orgId, id));
    await remove(rates, keys.keyUse(orgId, id));
  }

  async function removeReceivers(orgId: OrgId): Promise<void> {
    const rows = await Promise.all([rowsAt(keys.endpoints(orgId)), rowsAt(keys.channels(orgId))]);
    for (const row of rows.flat()) await remove(service, keyOf(row));
  }

  async function expireRowsAt(pk: string): Promise<void> {
    for (const row of await rowsAt(pk)) await expireAt(keyOf(row));
  }

  return {
    removeKey,

    /** Sets an expiry on the organization and its keys, in case the verification is killed. */
    async expire(orgId: OrgId): Promise<void> {
      await expireRowsAt(orgId);
      for (const row of await rowsAt(keys.apiKeys(orgId)))
        for (const key of [keyOf(row), keys.apiKey(String(row.digest))]) await expireAt(key);
    },

    /**
     * Pairs the organization with a sandbox and issues a key for it, as the API does for an admin.
     * @throws CheckFailed when the organization already has a sandbox
     */
    async pair(orgId: OrgId): Promise<{ tenant: Tenant; key: string }> {
      const at = now();
      const { pairing, sandbox } = createSandbox(orgId, at);
      const { key, secret } = issueKey(
        { orgId, environment: 'sandbox', name: 'Verification', scopes: [...Scope.options] },
        at,
      );
      const organization = {
        name: 'Sandbox',
        environment: 'sandbox',
        tier: 'sandbox',
        createdAt: at.toISOString(),
      } as const;
      const result = await committer(client)([
        ...sandboxStore(service).create(pairing, sandbox, organization),
        ...apiKeyStore(service).create(hashApiKey(secret), key),
      ]);
      if (result.kind === 'refused') throw new CheckFailed(`${orgId} has a sandbox already.`);
      return { tenant: { orgId: sandbox.id, generation: sandbox.generation }, key: secret };
    },

    /** Removes the keys and endpoints at once; the organization's own rows expire. */
    async removeOrganization(orgId: OrgId): Promise<void> {
      for (const { sk, digest } of await rowsAt(keys.apiKeys(orgId)))
        await removeKey(orgId, KeyId.parse(sk), String(digest));
      await removeReceivers(orgId);
      await expireRowsAt(orgId);
    },

    /**
     * Removes the endpoints and requests the purge of the data, as a reset does; the sandbox's own rows
     * expire.
     */
    async removeSandbox(tenant: Tenant): Promise<void> {
      const at = now();
      await removeReceivers(tenant.orgId);
      await committer(client)([
        sandboxStore(service).nextGeneration(tenant, at),
        purgeStore(service).order({ ...tenant, requestedAt: at.toISOString() }),
      ]);
      await expireRowsAt(tenant.orgId);
    },
  };
}
