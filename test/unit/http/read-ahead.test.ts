import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { keyAuthentication } from '../../../functions/http/authentication.ts';
import { type ApiKey, generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { createSandbox } from '../../../functions/tenancy/organizations.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { anApiKey, NOW } from '../../builders.ts';
import { capturingLogger } from '../aws/capturing-logger.ts';
import { aRequest, thingRoute } from './call.ts';
import { inMemory } from './in-memory.ts';

const THING = newId('whk', NOW);

/** Authentication of one key, whose organization has a sandbox, and what it reads. */
function anAuthentication(key: ApiKey) {
  const secret = generateApiKey(key.environment);
  const stored = new Map([[hashApiKey(secret), key]]);
  const { pairing, sandbox } = createSandbox(key.orgId, NOW);
  const reads: (Tenant | 'key')[] = [];
  const authenticate = keyAuthentication(
    {
      async find(digest) {
        reads.push('key');
        return stored.get(digest);
      },
      async findWith(digest, { pk }) {
        const tenant: Tenant = JSON.parse(pk);
        reads.push(tenant);
        return { key: stored.get(digest), row: { of: tenant } };
      },
      noteUse: async () => undefined,
    },
    async () => ({ pairing, sandbox }),
    capturingLogger().log,
    (tenant, { pathParameters }) =>
      pathParameters?.id === THING ? { pk: JSON.stringify(tenant), sk: 'thing' } : undefined,
  );
  return {
    stored,
    sandbox,
    reads,
    call: (id: string = THING, presented = secret) =>
      authenticate(aRequest({ ...inMemory(), secret: presented }, { pathParameters: { id } }), thingRoute),
  };
}

describe('a row that is read with an API key', () => {
  it("is read from the second call on, as its tenant's", async () => {
    const key = anApiKey();
    const tenant = { orgId: key.orgId, generation: 0 };
    const { call, reads } = anAuthentication(key);

    const first = await call();
    const second = await call();

    expect(reads).toEqual(['key', tenant]);
    expect(first).toMatchObject({ tenant });
    expect(first).not.toHaveProperty('rowAhead');
    expect(second).toMatchObject({ tenant, rowAhead: { of: tenant } });
  });

  it('is dropped with the call of a key that was revoked meanwhile', async () => {
    const key = anApiKey();
    const { call, stored } = anAuthentication(key);
    await call();

    for (const digest of stored.keys()) stored.set(digest, { ...key, revokedAt: NOW.toISOString() });

    expect(await call()).toMatchObject({ type: 'AUTHENTICATION_ERROR' });
    expect(await call()).not.toHaveProperty('rowAhead');
  });

  it('is dropped when it is of an earlier generation of the sandbox', async () => {
    const { call, reads, sandbox } = anAuthentication(anApiKey({ environment: 'sandbox' }));
    await call();
    sandbox.generation = 2;

    const afterReset = await call();
    const later = await call();

    const tenant = { orgId: sandbox.id, generation: 2 };
    expect(reads).toEqual(['key', { ...tenant, generation: 1 }, tenant]);
    expect(afterReset).toMatchObject({ tenant });
    expect(afterReset).not.toHaveProperty('rowAhead');
    expect(later).toMatchObject({ tenant, rowAhead: { of: tenant } });
  });

  it('is not read for an unknown key, nor when the path names none', async () => {
    const { call, reads } = anAuthentication(anApiKey());
    await call();

    expect(await call(THING, generateApiKey('live'))).toMatchObject({ type: 'AUTHENTICATION_ERROR' });
    expect(await call('another')).not.toHaveProperty('rowAhead');
    expect(reads).toEqual(['key', 'key', 'key']);
  });
});
