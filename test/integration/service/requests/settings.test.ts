import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ApiClient, Call } from '../../../support/api.ts';
import { DASHBOARD_ORIGIN } from '../../../support/service.ts';
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
      const listed = [...((await asAdmin({ path: `${API_KEYS}?limit=100` })).body.data ?? [])];
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

  it('shows its secret only in the answer to its creation', async () => {
    const { secret } = await createKey();
    const page = await asAdmin({ path: API_KEYS });
    const text = JSON.stringify(page.body);
    expect(text).not.toContain(secret.slice(8));
    expect(text).not.toMatch(/secret|digest|ck_live|orgId/);
    expect(organization.place.log().filter((line) => line.text.includes(secret))).toEqual([]);
  });

  it('that does not exist is revoked with the same answer', async () => {
    const path = `${API_KEYS}/key_${'0'.repeat(32)}`;
    expect((await asAdmin({ method: 'DELETE', path })).status).toBe(204);
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
});

it('a change with the session in its cookie needs the dashboard’s origin, a read does not', async () => {
  const change: Call = { method: 'PATCH', path: ORGANIZATION, body: {} };
  for (const origin of [undefined, 'null', `${DASHBOARD_ORIGIN}0`])
    expectProblem(await withCookie(change, origin), 403, 'PERMISSION_DENIED');
  expect((await withCookie(change, DASHBOARD_ORIGIN)).status).toBe(200);
  expect((await withCookie({ path: ORGANIZATION })).status).toBe(200);
});
