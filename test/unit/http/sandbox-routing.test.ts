import { describe, expect, it, vi } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { createSandbox, type Pairing, type Sandbox } from '../../../functions/tenancy/organizations.ts';
import { anApiKey, NOW } from '../../builders.ts';
import { aRequest, createThingWith, envelope, send, thingRoute } from './call.ts';
import { aThing, type InMemory, inMemory } from './in-memory.ts';

/** The service with a sandbox key, whose live organization has a sandbox of this generation. */
function withSandboxKey(generation = 1): InMemory & { sandboxId: OrgId } {
  const service = inMemory();
  const secret = generateApiKey('sandbox');
  const key = anApiKey({ environment: 'sandbox' });
  const { pairing, sandbox } = createSandbox(key.orgId, NOW);
  service.keys.set(hashApiKey(secret), key);
  service.sandboxes.set(key.orgId, { pairing, sandbox: { ...sandbox, generation } });
  return Object.assign(service, { secret, key, sandboxId: sandbox.id });
}

/** Changes the stored items directly. */
function changed(
  service: InMemory,
  changes: { pairing?: Partial<Pairing> | 'gone'; sandbox?: Partial<Sandbox> | 'gone' },
): InMemory {
  const { pairing, sandbox } = service.sandboxes.get(service.key.orgId) ?? {};
  const with_ = <T>(stored: T | undefined, change: Partial<T> | 'gone' | undefined) =>
    change === 'gone' || stored === undefined ? undefined : { ...stored, ...change };
  service.sandboxes.set(service.key.orgId, {
    pairing: with_(pairing, changes.pairing),
    sandbox: with_(sandbox, changes.sandbox),
  });
  return service;
}

describe('a request with a sandbox key', () => {
  it('acts on the sandbox of its organization at its current generation, regardless of headers', async () => {
    const service = withSandboxKey(7);
    const requests: unknown[] = [];
    const event = aRequest(service, { headers: { 'X-Org-Id': service.key.orgId } });
    const { status, text, headers } = await send(thingRoute, service, event, async (request) => {
      requests.push(request);
      return request.effect({ kind: 'success', data: { name: 'x' } }, [aThing('it')]);
    });
    expect(status).toBe(201);
    expect(requests).toMatchObject([{ tenant: { orgId: service.sandboxId, generation: 7 } }]);
    for (const shown of [requests, service.commits, headers, text])
      expect(JSON.stringify(shown)).not.toContain(service.key.orgId);
  });

  it("uses the sandbox's budget, in the lowest tier, regardless of the organization's tier", async () => {
    const service = withSandboxKey();
    const limit = vi.spyOn(service.ports.limiter, 'take');
    const organization = vi.spyOn(service.ports, 'organization');
    const { headers } = await createThingWith({}, service);
    expect(limit.mock.calls).toEqual([[{ orgId: service.sandboxId, kind: 'sandbox' }, 'sandbox', NOW, 1]]);
    expect(organization).not.toHaveBeenCalled();
    expect(headers).toMatchObject({ 'RateLimit-Policy': '"sandbox";q=10;w=60' });
  });

  it('is logged with the sandbox and the key', async () => {
    const service = withSandboxKey();
    await send(thingRoute, service, aRequest(service), async () => {
      service.logger.log('CHECK_TOO_LATE', {});
      throw new Error('failed');
    });
    expect(service.logger.lines).toHaveLength(2);
    for (const line of service.logger.lines)
      expect(line).toMatchObject({ orgId: service.sandboxId, keyId: service.key.id });
  });

  it('reads its pairing each time, so that a request after a reset uses the new generation', async () => {
    const service = withSandboxKey();
    const seen: unknown[] = [];
    for (const generation of [1, 2, 5]) {
      changed(service, { sandbox: { generation } });
      await send(thingRoute, service, aRequest(service), async ({ tenant, effect }) => {
        seen.push(tenant.generation);
        return effect({ kind: 'success', data: { name: 'x' } }, []);
      });
    }
    expect(seen).toEqual([1, 2, 5]);
  });

  it('still needs the scope', async () => {
    const service = withSandboxKey();
    service.key.scopes = ['read:webhooks'];
    expect(await createThingWith({}, service)).toMatchObject({
      status: 403,
      body: envelope('PERMISSION_DENIED', expect.stringContaining('write:webhooks')),
      runs: 0,
    });
  });

  const stranger = createSandbox(newId('org', NOW), NOW);
  it.each([
    ['there is no pairing', 'unpaired', { pairing: 'gone' }],
    ['there is neither pairing nor sandbox', 'unpaired', { pairing: 'gone', sandbox: 'gone' }],
    ['the pairing is another organization’s', 'foreign pairing', { pairing: stranger.pairing }],
    [
      'pairing and sandbox are another organization’s',
      'foreign pairing',
      { pairing: stranger.pairing, sandbox: stranger.sandbox },
    ],
    ['the paired organization is not there, or not a sandbox', 'no such sandbox', { sandbox: 'gone' }],
    [
      'the pairing names another organization’s sandbox',
      'not its sandbox',
      {
        pairing: { sandboxOrganizationId: stranger.pairing.sandboxOrganizationId },
        sandbox: stranger.sandbox,
      },
    ],
    [
      'the sandbox names another organization',
      'not its sandbox',
      { sandbox: { liveOrganizationId: stranger.pairing.liveOrganizationId } },
    ],
    ['the sandbox is at the generation of live data', 'not its sandbox', { sandbox: { generation: 0 } }],
  ] as const)('is refused and logged like one with an unknown key when %s', async (_, why, changes) => {
    const service = changed(withSandboxKey(), changes);
    const unknown = await createThingWith({
      headers: { Authorization: `Bearer ${generateApiKey('sandbox')}` },
    });
    expect(await createThingWith({}, service)).toEqual(unknown);
    expect(unknown).toMatchObject({ status: 401, runs: 0, body: envelope('AUTHENTICATION_ERROR') });
    expect(service.logger.lines).toMatchObject([
      { level: 'WARN', keyId: service.key.id, liveOrgId: service.key.orgId, why },
    ]);
    expect(service.budget).toBe(10);
  });

  it('is answered 503 when the pairing cannot be read, never as another organization', async () => {
    const service = withSandboxKey();
    service.sandboxes.get = () => {
      throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    };
    expect(await createThingWith({}, service)).toMatchObject({ status: 503, runs: 0 });
  });
});

describe('a request with a live key', () => {
  it('reads no pairing', async () => {
    const service = inMemory();
    const asked = vi.spyOn(service.sandboxes, 'get');
    expect((await createThingWith({}, service)).status).toBe(201);
    expect(asked).not.toHaveBeenCalled();
  });

  it('is refused and logged like one with an unknown key when its organization is a sandbox', async () => {
    const service = inMemory();
    service.environment = 'sandbox';
    const unknown = await createThingWith({ headers: { Authorization: `Bearer ${generateApiKey('live')}` } });
    expect(await createThingWith({}, service)).toEqual(unknown);
    expect(service.logger.lines).toMatchObject([
      { level: 'WARN', orgId: service.key.orgId, message: expect.stringContaining('not live') },
    ]);
    expect(service.budget).toBe(10);
    expect(service.commits).toEqual([]);
  });
});
