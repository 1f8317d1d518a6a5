import { describe, expect, it, vi } from 'vitest';
import { success } from '../../../functions/http/reply.ts';
import { generateApiKey, hashApiKey, Scope } from '../../../functions/tenancy/api-keys.ts';
import { NOW } from '../../builders.ts';
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

  it('causes no lookup when no key of the right form was sent', async () => {
    const service = inMemory();
    const asked = vi.spyOn(service.lookup, 'find');
    await createThingWith({ headers: { Authorization: 'Bearer ck_live_short' } }, service);
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

  it('may not write with a read scope', async () => {
    expect(await createThingWith({}, withScopes(['read:webhooks']))).toMatchObject({ status: 403, runs: 0 });
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
