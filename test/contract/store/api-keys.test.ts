import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { type ApiKey, apiKeyStore, generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anApiKey, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { metered } from '../../support/consumed.ts';
import { conflictOnOverlap } from './faults.ts';

const engine = dynamoDb();
const COMMITTED = { kind: 'committed' };
const newDigest = () => hashApiKey(generateApiKey('live'));

async function keyStore(client = engine.client()) {
  const { service } = await engine.tables(client);
  const store = apiKeyStore(service);
  const commit = committer(client);
  return {
    ...store,
    commit,
    async add(key: ApiKey = anApiKey(), digest = newDigest()) {
      const result = await commit(store.create(digest, key));
      return { key, digest, result };
    },
    /** As the route revokes it. */
    async revokeNow(key: Pick<ApiKey, 'orgId' | 'id'>, now: Date) {
      const changes = await store.revoke(key.orgId, key.id, now);
      return changes.length === 0 ? 'nothing' : commit(changes);
    },
    listAll: async (orgId: OrgId) => (await store.list(orgId, { limit: 100 })).items,
  };
}

describe('an API key', () => {
  it('is found by its digest, and is listed without it', async () => {
    const { add, find, listAll } = await keyStore();
    const { key, digest } = await add();

    expect(await find(digest)).toEqual(key);
    expect(await find(newDigest())).toBeUndefined();
    expect(await listAll(key.orgId)).toEqual([key]);
    expect(JSON.stringify(await listAll(key.orgId))).not.toContain(digest);
  });

  it('is read in one request with another row', async () => {
    const client = engine.client();
    const { add, findWith } = await keyStore(client);
    const [{ key, digest }, other] = [await add(), await add()];
    const row = keys.listedApiKey(other.key.orgId, other.key.id);
    const missing = keys.organization(newId('org', NOW));
    const consumed = metered(client);

    expect(await findWith(digest, row)).toEqual({ key, row: expect.objectContaining(row) });
    expect(consumed()).toMatchObject({ reads: 2, requests: 1 });
    expect(await findWith(digest, missing)).toEqual({ key, row: undefined });
    expect(await findWith(newDigest(), row)).toEqual({ key: undefined, row: expect.objectContaining(row) });
    expect(await findWith(newDigest(), missing)).toEqual({ key: undefined, row: undefined });
  });

  it.each([
    ['with its digest', (_: ApiKey, digest: string) => [anApiKey(), digest] as const],
    ['with its identifier', (key: ApiKey) => [key, newDigest()] as const],
  ])('stays unchanged when another is added %s', async (_, clashing) => {
    const { add, find, listAll } = await keyStore();
    const { key, digest } = await add();
    const [second, secondDigest] = clashing(key, digest);

    const { result } = await add({ ...second, name: 'Second' }, secondDigest);

    expect(result).toEqual({ kind: 'refused', refusal: 'exists' });
    expect(await find(digest)).toEqual(key);
    expect(await listAll(key.orgId)).toEqual([key]);
    expect(second.orgId === key.orgId ? [] : await listAll(second.orgId)).toEqual([]);
  });

  it('is listed after newer ones, page by page', async () => {
    const { add, list } = await keyStore();
    const orgId = newId('org', NOW);
    const made: string[] = [];
    for (let count = 0; count < 7; count++) {
      const createdAt = later(NOW, seconds(count));
      const { key } = await add(
        anApiKey({ orgId, id: newId('key', createdAt), createdAt: createdAt.toISOString() }),
      );
      made.push(key.id);
    }

    const seen: string[] = [];
    for (let after: string | undefined, pages = 0; pages < 4; pages++) {
      const { items, next } = await list(orgId, { limit: 2, after });
      seen.push(...items.map(({ id }) => id));
      after = next;
    }
    expect(seen).toEqual(made.toReversed());
  });
});

describe('a revocation', () => {
  it('takes effect at once for callers and in the list, and changes nothing else', async () => {
    const { add, find, listAll, revokeNow } = await keyStore();
    const orgId = newId('org', NOW);
    const { key, digest } = await add(anApiKey({ orgId }));
    const { key: beside } = await add(anApiKey({ orgId }));

    expect(await revokeNow(key, later(NOW, 1))).toEqual(COMMITTED);

    const revoked = { ...key, revokedAt: later(NOW, 1).toISOString() };
    expect(await find(digest)).toEqual(revoked);
    expect((await listAll(orgId)).toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
      [revoked, beside].toSorted((a, b) => a.id.localeCompare(b.id)),
    );
  });

  it('takes effect once when many run at once, with the same time in both rows', async () => {
    const client = engine.client();
    const { add, find, listAll, revoke, commit } = await keyStore(client);
    const { key, digest } = await add();
    const conflicts = conflictOnOverlap(client);

    const times = Array.from({ length: 5 }, (_, count) => later(NOW, count + 1));
    // All of them have read the key before the first one writes, so that their transactions conflict.
    const changes = await Promise.all(times.map((time) => revoke(key.orgId, key.id, time)));
    const results = await Promise.all(changes.map(commit));

    const refused = { kind: 'refused', refusal: 'api-key-missing' };
    expect(results.toSorted((one, other) => one.kind.localeCompare(other.kind))).toEqual([
      COMMITTED,
      ...times.slice(1).map(() => refused),
    ]);
    expect(conflicts.count()).toBeGreaterThan(0);
    const stored = await find(digest);
    expect(times.map((time) => time.toISOString())).toContain(stored?.revokedAt);
    expect(await listAll(key.orgId)).toEqual([stored]);
  });

  it('of an unknown key, or another organization’s, does nothing', async () => {
    const { add, find, listAll, revokeNow } = await keyStore();
    const { key, digest } = await add();

    expect(await revokeNow({ orgId: newId('org', NOW), id: key.id }, NOW)).toBe('nothing');
    expect(await revokeNow({ orgId: key.orgId, id: newId('key', NOW) }, NOW)).toBe('nothing');

    expect(await find(digest)).toEqual(key);
    expect(await listAll(key.orgId)).toEqual([key]);
  });
});
