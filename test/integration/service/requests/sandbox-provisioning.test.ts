import { describe, expect, it } from 'vitest';
import { type Answer, type ApiClient, apiClient } from '../../../support/api.ts';
import { casesOf } from '../../../support/cases.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';
import { KEYS, SANDBOX } from './settings-paths.ts';

const PROVISION = `${SANDBOX}/provision`;
const BODY = { name: 'Build server', scopes: ['write:conversations'] };
/** Number of concurrent first calls. */
const AT_ONCE = casesOf(12, 50);

/* Provisioning a sandbox and reading it (docs/specification.md, Sandbox pairing). */
const place = aPlace('defaults');

describe('a sandbox', () => {
  const provision = ({ admin }: Pick<Tenant, 'admin'>, body: unknown = BODY) =>
    admin.call({ method: 'POST', path: PROVISION, body });

  /** Calls with a credential other than the tenant's own. */
  async function callAs<T>(credential: string, use: (api: ApiClient) => Promise<T>): Promise<T> {
    const api = apiClient({ BASE_URL: place.service().url, API_KEY: credential });
    return use(api).finally(() => api.close());
  }
  const lists = (key: string): Promise<Answer> => callAs(key, (api) => api.get('/api/v1/conversations'));
  const listKeys = ({ admin }: Tenant) => admin.all(KEYS);

  it('is created by the first call, with a key that works at once', async () => {
    const live = await place.tenant();
    const answer = await provision(live);
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
    expect(answer.headers).toMatchObject({ location: `${KEYS}/${shown.id}`, 'cache-control': 'no-store' });

    expect((await lists(secretOnce)).body.data).toEqual([]);
    const [body, path] = [{ url: live.receiver, events: ['ticket.created'] }, '/api/v1/webhooks'];
    expectProblem(await callAs(secretOnce, (api) => api.post(path, body)), 403, 'PERMISSION_DENIED');
  });

  it('stays the same in every further call, each of which issues another key', async () => {
    const live = await place.tenant();
    const answers = [await provision(live), await provision(live), await provision(live)];
    const data = answers.map(({ body }) => Object(body.data));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(data.map(({ provisioned }) => provisioned)).toEqual([true, false, false]);
    expect(new Set(data.map(({ sandboxOrganizationId }) => sandboxOrganizationId)).size).toBe(1);
    const secrets: string[] = data.map(({ key }) => key.secretOnce);
    expect(new Set(secrets).size).toBe(3);
    const made = await callAs(secrets[0] ?? '', (api) => api.createConversation());
    for (const secret of secrets)
      expect([...((await lists(secret)).body.data ?? [])]).toMatchObject([{ id: made }]);
  });

  it(`is created by one of ${AT_ONCE} concurrent first calls, and all their keys work`, async () => {
    const live = await place.tenant();
    const crowd = apiClient({ BASE_URL: place.service().url, API_KEY: live.session }, AT_ONCE);
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => provision({ admin: crowd })));
    crowd.close();
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const data = answers.map(({ body }) => Object(body.data));
    expect(data.filter(({ provisioned }) => provisioned === true)).toHaveLength(1);
    const ids = new Set(data.map(({ sandboxOrganizationId }) => sandboxOrganizationId));
    expect(ids.size).toBe(1);

    const secrets: string[] = data.map(({ key }) => key.secretOnce);
    expect(new Set(secrets).size).toBe(AT_ONCE);
    const made = await callAs(secrets[0] ?? '', (api) => api.createConversation());
    for (const secret of secrets) expect(JSON.stringify((await lists(secret)).body)).toContain(made);
    const listed = (await listKeys(live)).map(({ id }) => id);
    expect(listed).toEqual(expect.arrayContaining(data.map(({ key }) => key.id)));
    const organizations = (await place.service().rows()).filter(
      ({ item }) => item.sk === 'organization' && item.liveOrganizationId === live.orgId,
    );
    expect(organizations.map(({ item }) => item.pk)).toEqual([...ids]);
  });

  it('can be read by members of its organization, and is a 404 before it exists', async () => {
    const live = await place.tenant();
    const member = await place.service().session(live.orgId, 'member');
    const read = () => callAs(member, (api) => api.get(SANDBOX));
    expectProblem(await read(), 404, 'NOT_FOUND');

    const { body } = await provision(live);
    const { status, body: shown } = await read();
    expect(status).toBe(200);
    expect(shown.data).toEqual({
      sandboxOrganizationId: body.data?.sandboxOrganizationId,
      createdAt: expect.any(String),
      lastResetAt: null,
      purge: null,
    });
    await provision(live);
    expect((await read()).body.data).toEqual(shown.data);
  });

  it('belongs to the caller’s own organization, which the body cannot change', async () => {
    const [live, other] = [await place.tenant(), await place.tenant()];
    const elsewhere = await place.sandbox(other);
    for (const field of ['orgId', 'sandboxOrganizationId', 'liveOrganizationId'])
      expect((await provision(live, { ...BODY, [field]: other.orgId })).status).toBe(400);
    const { body } = await provision(live, BODY);
    expect(body.data).toMatchObject({ provisioned: true, key: { environment: 'sandbox' } });
    expect(body.data?.sandboxOrganizationId).not.toBe(elsewhere.orgId);
    expect((await listKeys(other)).map(({ name }) => name)).not.toContain(BODY.name);
  });

  describe('is not created', () => {
    const expectUntouched = async (live: Tenant, call: () => Promise<Answer>): Promise<Answer> => {
      const before = await listKeys(live);
      const answer = await call();
      expect(await listKeys(live)).toEqual(before);
      expectProblem(await live.admin.get(SANDBOX), 404, 'NOT_FOUND');
      return answer;
    };

    it.each([
      ['no name', { scopes: ['read:webhooks'] }, /name/],
      ['an empty name', { ...BODY, name: '' }, /name/],
      ['a long name', { ...BODY, name: 'x'.repeat(201) }, /name/],
      ['a name that is no text', { ...BODY, name: 7 }, /name/],
      ['no scopes', { name: 'x' }, /scopes/],
      ['an empty list of scopes', { ...BODY, scopes: [] }, /scopes/],
      ['an unknown scope', { ...BODY, scopes: ['admin'] }, /scopes/],
      ['a scope twice', { ...BODY, scopes: ['read:webhooks', 'read:webhooks'] }, /scopes/],
      ['no body', undefined, /./],
    ])('with %s', async (_, body, message) => {
      const live = await place.tenant();
      const answer = await expectUntouched(live, () => provision(live, body === undefined ? '' : body));
      expectProblem(answer, 400, 'VALIDATION_ERROR');
      expect(answer.body.error?.message).toMatch(message);
    });

    it('by a member', async () => {
      const live = await place.tenant();
      const member = await place.service().session(live.orgId, 'member');
      const answer = await expectUntouched(live, () => callAs(member, (admin) => provision({ admin })));
      expectProblem(answer, 403, 'PERMISSION_DENIED');
    });

    it('with an API key', async () => {
      const [live, other] = [await place.tenant(), await place.tenant()];
      const { key: sandboxKey } = await place.sandbox(other);
      for (const key of [live.key, sandboxKey])
        expectProblem(
          await expectUntouched(live, () => callAs(key, (admin) => provision({ admin }))),
          403,
          'PERMISSION_DENIED',
        );
      expectProblem(await callAs(live.key, (api) => api.get(SANDBOX)), 403, 'PERMISSION_DENIED');
    });

    it('without a valid session', async () => {
      const live = await place.tenant();
      for (const credential of ['', 'e30.e30.e30'])
        expectProblem(
          await expectUntouched(live, () => callAs(credential, (admin) => provision({ admin }))),
          401,
          'AUTHENTICATION_ERROR',
        );
    });
  });
});
