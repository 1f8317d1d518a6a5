import { describe, expect, it } from 'vitest';
import { type Answer, type ApiClient, apiClient } from '../../../support/api.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';
import { KEYS, SANDBOX } from './settings-paths.ts';

const PROVISION = `${SANDBOX}/provision`;
const BODY = { name: 'Build server', scopes: ['write:conversations'] };

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
});
