import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ApiClient, Call } from '../../../support/api.ts';
import { DASHBOARD_ORIGIN } from '../../../support/service.ts';
import { untilCounted } from '../../../support/use-up.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';

const organization = anOrganization(aPlace('withoutWaits'));
/** A client without a credential. */
let anonymous: ApiClient;

beforeAll(() => {
  anonymous = organization.client('');
});

const ORGANIZATION = '/api/settings/organization';
const API_KEYS = '/api/settings/api-keys';
const PUBLIC = '/api/v1/conversations';

const callAs = (token: string, call: Call): Promise<Answer> =>
  anonymous.call({ ...call, headers: { authorization: `Bearer ${token}`, ...call.headers } });
const asAdmin = (call: Call) => callAs(organization.sessions.admin, call);
const asMember = (call: Call) => callAs(organization.sessions.member, call);
const withCookie = (call: Call, origin?: string) =>
  anonymous.call({
    ...call,
    headers: {
      cookie: `theme=dark; __Host-session=${organization.sessions.admin}`,
      ...(origin === undefined ? {} : { origin }),
    },
  });

async function createKey(body: object = { name: 'Build server', scopes: ['read:conversations'] }) {
  const answer = await asAdmin({ method: 'POST', path: API_KEYS, body });
  expect(answer.status).toBe(201);
  const { secretOnce, ...key } = Object(answer.body.data);
  return { key, secret: String(secretOnce), answer };
}

const revoke = (id: string) => asAdmin({ method: 'DELETE', path: `${API_KEYS}/${id}` });

/** All keys in the organization's list, page by page. */
async function listKeys(limit = 100): Promise<Record<string, unknown>[]> {
  const keys: Record<string, unknown>[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await asAdmin({ path: `${API_KEYS}?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}` });
    expect(page.status).toBe(200);
    keys.push(...(page.body.data ?? []));
    cursor = page.body.nextCursor ?? null;
  }
  return keys;
}

describe('an API key', () => {
  it('is created by an admin and works at once', async () => {
    const { key, secret, answer } = await createKey({ name: 'Reader', scopes: ['read:conversations'] });
    expect(secret).toMatch(/^ck_live_[\w-]{43}$/);
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      environment: 'live',
      name: 'Reader',
      scopes: ['read:conversations'],
      createdAt: expect.any(String),
      lastUsedAt: null,
      revokedAt: null,
    });
    expect(answer.headers.location).toBe(`${API_KEYS}/${key.id}`);
    expect(answer.headers['cache-control']).toBe('no-store');

    expect((await callAs(secret, { path: PUBLIC })).status).toBe(200);
    const body = { channelId: 'web', externalUserId: 'ada' };
    expectProblem(await callAs(secret, { method: 'POST', path: PUBLIC, body }), 403, 'PERMISSION_DENIED');
  });

  it('is listed with its last use, including refused ones', async () => {
    const unused = await createKey();
    const before = Date.now();
    // A use that cannot be recorded within half a second is not retried for minutes, so the next try uses
    // new keys.
    const { used, refused, readLastUse } = await until('both uses to be noted', async () => {
      const [used, refused] = [await createKey(), await createKey()];
      expect((await callAs(used.secret, { path: PUBLIC })).status).toBe(200);
      expect((await callAs(refused.secret, { method: 'POST', path: PUBLIC, body: {} })).status).toBe(403);
      const listed = await listKeys();
      const readLastUse = (id: unknown) => Object(listed.find((key) => key.id === id)).lastUsedAt;
      return (
        [used, refused].every(({ key }) => readLastUse(key.id) !== null) && {
          used,
          refused,
          readLastUse,
        }
      );
    });
    for (const { key } of [used, refused])
      expect(Date.parse(readLastUse(key.id))).toBeGreaterThanOrEqual(before);
    expect(readLastUse(unused.key.id)).toBeNull();
  });

  it('is refused at the first request after its revocation, while other keys work', async () => {
    const [first, second] = [await createKey(), await createKey()];
    expect((await callAs(first.secret, { path: PUBLIC })).status).toBe(200);

    expect((await revoke(first.key.id)).status).toBe(204);

    expectProblem(await callAs(first.secret, { path: PUBLIC }), 401, 'AUTHENTICATION_ERROR');
    expect((await callAs(second.secret, { path: PUBLIC })).status).toBe(200);
  });

  it('keeps the time of its first revocation when it is revoked again', async () => {
    const { key } = await createKey();
    await revoke(key.id);
    const listed = (await listKeys()).find(({ id }) => id === key.id);
    expect(listed).toEqual({ ...key, revokedAt: expect.any(String) });

    expect((await revoke(key.id)).status).toBe(204);
    expect((await listKeys()).find(({ id }) => id === key.id)).toEqual(listed);
  });

  it.each(['unknown', 'key_1', `key_${'0'.repeat(32)}`, `org_${'0'.repeat(32)}`])(
    'that does not exist is revoked with the same answer: %s',
    async (id) => {
      const before = await listKeys();
      expect((await revoke(id)).status).toBe(204);
      expect(await listKeys()).toEqual(before);
    },
  );

  it('is listed newest first, the organization’s initial key last', async () => {
    for (let count = 0; count < 3; count++) await createKey();
    const keys = await listKeys(2);
    expect(keys.map(({ id }) => id)).toEqual(
      keys
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
    expect(keys.at(-1)).toMatchObject({ name: 'First key', revokedAt: null });
    expect(new Set(keys.map(({ id }) => id)).size).toBe(keys.length);
  });

  it('shows its secret only in the answer to its creation', async () => {
    const { secret } = await createKey();
    const page = await asAdmin({ path: API_KEYS });
    const text = JSON.stringify(page.body);
    expect(text).not.toContain(secret.slice(8));
    expect(text).not.toMatch(/secret|digest|ck_live|orgId/);
    expect(organization.place.log().filter((line) => line.text.includes(secret))).toEqual([]);
  });

  it.each([
    ['no name', { scopes: ['read:webhooks'] }, /name/],
    ['an empty name', { name: '', scopes: ['read:webhooks'] }, /name/],
    ['a long name', { name: 'x'.repeat(201), scopes: ['read:webhooks'] }, /name/],
    ['no scopes', { name: 'x' }, /scopes/],
    ['an empty list of scopes', { name: 'x', scopes: [] }, /scopes/],
    ['an unknown scope', { name: 'x', scopes: ['admin'] }, /scopes/],
    ['a scope twice', { name: 'x', scopes: ['read:webhooks', 'read:webhooks'] }, /scopes/],
    ['no body', undefined, /./],
  ])('is not created with %s', async (_, body, message) => {
    const before = await listKeys();
    const answer = await asAdmin({ method: 'POST', path: API_KEYS, body });
    expectProblem(answer, 400, 'VALIDATION_ERROR');
    expect(answer.body.error?.message).toMatch(message);
    expect(await listKeys()).toEqual(before);
  });

  it('is always a live key of the admin’s own organization, which the body cannot change', async () => {
    const wanted = { name: 'x', scopes: ['read:conversations'] };
    const { key, secret } = await createKey(wanted);
    for (const other of [{ environment: 'sandbox' }, { orgId: `org_${'0'.repeat(32)}` }])
      expect((await asAdmin({ method: 'POST', path: API_KEYS, body: { ...wanted, ...other } })).status).toBe(
        400,
      );
    expect(key).toMatchObject({ environment: 'live', revokedAt: null });
    expect(secret).toMatch(/^ck_live_/);
    expect((await callAs(secret, { path: PUBLIC })).status).toBe(200);
    expect((await listKeys()).map(({ id }) => id)).toContain(key.id);
  });
});

describe('the organization', () => {
  it('is shown to its members with its settings', async () => {
    for (const ask of [asAdmin, asMember]) {
      const { status, body } = await ask({ path: ORGANIZATION });
      expect(status).toBe(200);
      expect(body.data).toEqual({
        id: organization.id,
        name: expect.any(String),
        environment: 'live',
        tier: expect.any(String),
        contentChangeThreshold: expect.any(Number),
        contentChangeNotifications: expect.any(Boolean),
        retentionDays: null,
        // The local run has a mailbox.
        mailer: true,
        createdAt: expect.any(String),
      });
    }
  });

  it('has each setting changed by an admin without the others', async () => {
    const change = (body: object) => asAdmin({ method: 'PATCH', path: ORGANIZATION, body });
    const before = Object((await asAdmin({ path: ORGANIZATION })).body.data);

    const first = await change({ contentChangeThreshold: 12.5 });
    expect([first.status, first.body.data]).toEqual([200, { ...before, contentChangeThreshold: 12.5 }]);
    const changed = { ...before, contentChangeThreshold: 12.5, contentChangeNotifications: false };
    expect((await change({ contentChangeNotifications: false })).body.data).toEqual(changed);
    expect((await change({})).body.data).toEqual(changed);
    for (const fixed of [{ name: 'Other' }, { tier: 'scale' }])
      expect((await change(fixed)).status).toBe(400);
    expect((await asMember({ path: ORGANIZATION })).body.data).toEqual(changed);
  });

  it.each([
    [{ contentChangeThreshold: -1 }, 'contentChangeThreshold must be between 0 and 100.'],
    [{ contentChangeThreshold: 100.5 }, 'contentChangeThreshold must be between 0 and 100.'],
    [{ contentChangeThreshold: 1e-200 }, 'contentChangeThreshold must have at most two decimals.'],
    [{ contentChangeThreshold: '20' }, 'contentChangeThreshold must be a number.'],
    [{ contentChangeNotifications: 'no' }, 'contentChangeNotifications must be a boolean.'],
    [[], 'The body must be an object.'],
  ])('keeps its settings when they are changed to %j', async (body, message) => {
    const before = (await asAdmin({ path: ORGANIZATION })).body.data;
    const answer = await asAdmin({ method: 'PATCH', path: ORGANIZATION, body });
    expectProblem(answer, 400, 'VALIDATION_ERROR');
    expect(answer.body.error?.message).toBe(message);
    expect((await asAdmin({ path: ORGANIZATION })).body.data).toEqual(before);
  });
});

const id = `key_${'0'.repeat(32)}`;
const name = { name: 'x', scopes: ['read:webhooks'] };
/** Every route of the settings under test, each with a valid body. */
const reads: Call[] = [{ path: ORGANIZATION }, { path: API_KEYS }];
const writes: Call[] = [
  { method: 'PATCH', path: ORGANIZATION, body: { contentChangeThreshold: 1 } },
  { method: 'POST', path: API_KEYS, body: name },
  { method: 'DELETE', path: `${API_KEYS}/${id}` },
];
const withLabels = (calls: Call[]) =>
  calls.map((call) => [`${call.method ?? 'GET'} ${call.path}`, call] as const);

describe.each(withLabels([...reads, ...writes]))('%s', (_, call) => {
  it('requires a session: an API key and a missing credential are refused', async () => {
    expectProblem(await callAs(organization.key, call), 403, 'PERMISSION_DENIED');
    for (const stranger of [await anonymous.call(call), await callAs('e30.e30.e30', call)]) {
      expectProblem(stranger, 401, 'AUTHENTICATION_ERROR');
      expect(stranger.headers['www-authenticate']).toMatch(/^Bearer/);
    }
  });

  it('reports the remaining budget in every answer to a session', async () => {
    const { headers } = await untilCounted(() => asMember(call));
    expect(headers).toMatchObject({
      ratelimit: expect.any(String),
      'ratelimit-policy': expect.any(String),
    });
  });
});

describe.each(withLabels([{ path: API_KEYS }, ...writes]))('%s by a member', (_, call) => {
  it('is refused and changes nothing', async () => {
    const state = async () => [await listKeys(), (await asAdmin({ path: ORGANIZATION })).body.data];
    const before = await state();
    expectProblem(await asMember(call), 403, 'PERMISSION_DENIED');
    expect(await state()).toEqual(before);
  });
});

describe.each(withLabels(writes))('%s with the session in its cookie', (_, call) => {
  it('is accepted from the dashboard’s origin only', async () => {
    for (const origin of [undefined, 'null', 'https://attacker.example', `${DASHBOARD_ORIGIN}0`])
      expectProblem(await withCookie(call, origin), 403, 'PERMISSION_DENIED');
    expect([200, 201, 204]).toContain((await withCookie(call, DASHBOARD_ORIGIN)).status);
  });
});

describe('a session', () => {
  it('reads with its cookie from any origin', async () => {
    expect((await withCookie({ path: ORGANIZATION })).status).toBe(200);
  });

  it('is refused by the public API', async () => {
    expectProblem(await asAdmin({ path: PUBLIC }), 401, 'AUTHENTICATION_ERROR');
    expectProblem(await withCookie({ path: PUBLIC }), 401, 'AUTHENTICATION_ERROR');
  });

  it('is invalid after any change of its token', async () => {
    const [header, claims = '', signature] = organization.sessions.member.split('.');
    const raised = Buffer.from(claims, 'base64url').toString().replace('"member"', '"admin"');
    const forged = [header, Buffer.from(raised).toString('base64url'), signature].join('.');
    expectProblem(await callAs(forged, { path: ORGANIZATION }), 401, 'AUTHENTICATION_ERROR');
  });
});
