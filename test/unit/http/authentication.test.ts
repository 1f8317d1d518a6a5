import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { keyAuthentication, keyUseRecorder } from '../../../functions/http/authentication.ts';
import { success } from '../../../functions/http/reply.ts';
import { type ApiKey, generateApiKey, hashApiKey, Scope } from '../../../functions/tenancy/api-keys.ts';
import { createSandbox } from '../../../functions/tenancy/organizations.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { anApiKey, later, NOW, seconds } from '../../builders.ts';
import { capturingLogger } from '../aws/capturing-logger.ts';
import { aRequest, createThingWith, envelope, send, thingRoute } from './call.ts';
import { inMemory, MISSING_ORGANIZATION } from './in-memory.ts';

/** A request in which everything is wrong. */
const hopeless = {
  body: '{',
  pathParameters: { id: 'nothing' },
  queryStringParameters: { view: 'other' },
};

describe('a request without a valid key', () => {
  it.each([
    ['has no Authorization header', undefined],
    ['has an empty one', ''],
    ['has another scheme', 'Basic dXNlcjpwYXNz'],
    ['has a malformed key', 'Bearer ck_live_short'],
    ['has an unknown key', `Bearer ${generateApiKey('live')}`],
    ['has a sandbox key without a pairing', `Bearer ${generateApiKey('sandbox')}`],
  ])('is refused when it %s', async (_, authorization) => {
    const { status, headers, body, runs } = await createThingWith({
      headers: { Authorization: authorization },
    });
    expect(status).toBe(401);
    expect(body).toEqual(envelope('AUTHENTICATION_ERROR'));
    expect(headers).toMatchObject({ 'WWW-Authenticate': expect.stringMatching(/^Bearer /) });
    expect(runs).toBe(0);
  });

  it('gets the same answer for every invalid key', async () => {
    const revoked = inMemory();
    revoked.keys.set(hashApiKey(revoked.secret), { ...revoked.key, revokedAt: NOW.toISOString() });
    const sandbox = inMemory();
    sandbox.keys.set(hashApiKey(sandbox.secret), { ...sandbox.key, environment: 'sandbox' });
    const orphaned = inMemory();
    orphaned.keys.set(hashApiKey(orphaned.secret), { ...orphaned.key, orgId: MISSING_ORGANIZATION });
    const answers = await Promise.all([
      createThingWith({}, orphaned),
      createThingWith({ headers: { Authorization: undefined } }),
      createThingWith({ headers: { Authorization: `Bearer ${generateApiKey('live')}` } }),
      createThingWith({}, revoked),
      createThingWith({}, sandbox),
    ]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, runs: 0 });
  });

  it('is refused before any other check', async () => {
    const service = inMemory();
    const asked = vi.spyOn(service.ports.idempotency, 'find');
    const { status } = await createThingWith(
      { ...hopeless, headers: { Authorization: undefined, 'Idempotency-Key': 'x', 'Content-Type': 'x' } },
      service,
    );
    expect(status).toBe(401);
    expect(asked).not.toHaveBeenCalled();
  });
});

describe('a request whose key lacks the scope', () => {
  const withScopes = (scopes: Scope[]) => {
    const service = inMemory();
    service.keys.set(hashApiKey(service.secret), { ...service.key, scopes });
    return service;
  };

  it('is refused with the scope in the message, before any other check', async () => {
    const others = Scope.options.filter((scope) => scope !== 'write:webhooks');
    const { status, body, headers, runs } = await createThingWith(hopeless, withScopes(others));
    expect(status).toBe(403);
    expect(body).toEqual(envelope('PERMISSION_DENIED', expect.stringContaining('write:webhooks')));
    expect(headers).not.toHaveProperty('WWW-Authenticate');
    expect(runs).toBe(0);
  });

  it('may read with a write scope', async () => {
    const service = withScopes(['write:webhooks']);
    const reading = { ...thingRoute, scope: 'read:webhooks' } as const;
    const { status } = await send(reading, service, aRequest(service), async () => success({ name: 'x' }));
    expect(status).toBe(201);
  });
});

describe('a request with a valid key', () => {
  it.each(['Authorization', 'authorization', 'AUTHORIZATION'])(
    'is accepted with the header name %s',
    async (name) => {
      const service = inMemory();
      const headers = { Authorization: undefined, [name]: `Bearer ${service.secret}` };
      expect(await createThingWith({ headers }, service)).toMatchObject({ status: 201, runs: 1 });
    },
  );

  it('acts on the organization of its key, regardless of headers and of the event', async () => {
    const service = inMemory();
    const seen: unknown[] = [];
    const event = aRequest(service, {
      headers: { 'X-Org-Id': 'org_other' },
    });
    // A caller could influence at most the gateway's event; the pipeline overwrites its own fields there.
    Object.assign(event, { established: { tenant: { orgId: 'org_other', generation: 0 } } });
    await send(thingRoute, service, event, async ({ tenant, effect }) => {
      seen.push(tenant);
      return effect({ kind: 'success', data: { name: 'x' } }, []);
    });
    expect(seen).toEqual([service.tenant]);
  });
});

const minutes = (count: number) => later(NOW, seconds(60 * count));

function notes({ fails = false } = {}) {
  const note = vi.fn(async () => {
    if (fails) throw new Error('the table is throttled');
  });
  const { log, lines } = capturingLogger();
  return { note, lines, noteUse: keyUseRecorder({ note }, log) };
}

describe('the last use of a key', () => {
  it('is recorded for the first call, then every five minutes, for each key', async () => {
    const { note, noteUse } = notes();
    const [key, other] = [anApiKey(), anApiKey()];
    for (const at of [minutes(0), minutes(1), minutes(4.9), minutes(5), minutes(6)]) await noteUse(key, at);
    await noteUse(other, minutes(6));
    expect(note.mock.calls).toEqual([
      [key, minutes(0), 500],
      [key, minutes(5), 500],
      [other, minutes(6), 500],
    ]);
  });

  it('is recorded once for concurrent calls', async () => {
    const { note, noteUse } = notes();
    const key = anApiKey();
    await Promise.all([noteUse(key, NOW), noteUse(key, NOW), noteUse(key, NOW)]);
    expect(note).toHaveBeenCalledTimes(1);
  });

  it('fails no request when it cannot be recorded, and is not retried with every call', async () => {
    const { note, noteUse, lines } = notes({ fails: true });
    const key = anApiKey();
    for (let count = 0; count < 10; count += 1) await noteUse(key, NOW);
    expect(note).toHaveBeenCalledTimes(1);
    expect(lines).toMatchObject([{ level: 'WARN', code: 'KEY_USE_NOT_NOTED' }]);
  });
});

describe('a request', () => {
  it('records the use of its key, accepted or not', async () => {
    const [permitted, spent, unscoped] = [inMemory(), inMemory(), inMemory()];
    spent.budget = 0;
    unscoped.key.scopes.splice(0);
    for (const service of [permitted, spent, unscoped]) {
      await createThingWith({}, service);
      expect(service.used).toEqual([service.key.id]);
    }
  });

  it('records nothing for an unknown caller', async () => {
    const service = inMemory();
    await createThingWith({ headers: { Authorization: `Bearer ck_live_${'A'.repeat(43)}` } }, service);
    expect(service.used).toEqual([]);
  });
});

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
      noteUse: async () => undefined,
    },
    async () => ({ pairing, sandbox }),
    capturingLogger().log,
    {
      buildRowKey: (tenant, { pathParameters }) =>
        pathParameters?.id === THING ? { pk: JSON.stringify(tenant), sk: 'thing' } : undefined,
      async findWith(digest, { pk }) {
        const tenant: Tenant = JSON.parse(pk);
        reads.push(tenant);
        return { key: stored.get(digest), row: { of: tenant } };
      },
    },
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
