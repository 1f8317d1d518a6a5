import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ApiClient, Call } from '../../../support/api.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';

const organization = anOrganization(aPlace());
/** A client without a credential. */
let anonymous: ApiClient;

beforeAll(() => {
  anonymous = organization.client('');
});

const ORGANIZATION = '/api/settings/organization';
const API_KEYS = '/api/settings/api-keys';
const SANDBOX = '/api/settings/sandbox';
const PUBLIC = '/api/v1/conversations';

const callAs = (token: string, call: Call): Promise<Answer> =>
  anonymous.call({ ...call, headers: { authorization: `Bearer ${token}`, ...call.headers } });
const asAdmin = (call: Call) => callAs(organization.sessions.admin, call);
const asMember = (call: Call) => callAs(organization.sessions.member, call);
async function createKey() {
  const body = { name: 'Build server', scopes: ['read:conversations'] };
  const answer = await asAdmin({ method: 'POST', path: API_KEYS, body });
  expect(answer.status).toBe(201);
  const { secretOnce, ...key } = Object(answer.body.data);
  return { key, secret: String(secretOnce) };
}

describe('an API key', () => {
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
});

describe('the organization', () => {
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

/* Provisioning (docs/specification.md, Sandbox pairing). */
describe('a sandbox', () => {
  it('is created by the first call, with a key that works at once', async () => {
    const live = await organization.place.tenant();
    const answer = await live.admin.post(`${SANDBOX}/provision`, {
      name: 'Build server',
      scopes: ['write:conversations'],
    });
    expect(answer.status).toBe(201);
    const { sandboxOrganizationId, provisioned, key } = Object(answer.body.data);
    const { secretOnce, ...shown } = key;
    expect(sandboxOrganizationId).toMatch(/^org_[0-9a-f]{32}$/);
    expect(sandboxOrganizationId).not.toBe(live.orgId);
    expect(provisioned).toBe(true);
    expect(secretOnce).toMatch(/^ck_sandbox_[\w-]{43}$/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      environment: 'sandbox',
      name: 'Build server',
      scopes: ['write:conversations'],
      createdAt: expect.any(String),
      lastUsedAt: null,
      revokedAt: null,
    });
    expect(answer.headers).toMatchObject({
      location: `${API_KEYS}/${shown.id}`,
      'cache-control': 'no-store',
    });

    const api = organization.client(secretOnce);
    expect((await api.get(PUBLIC)).body.data).toEqual([]);
    const endpoint = { url: live.receiver, events: ['ticket.created'] };
    expectProblem(await api.post('/api/v1/webhooks', endpoint), 403, 'PERMISSION_DENIED');
  });
});
