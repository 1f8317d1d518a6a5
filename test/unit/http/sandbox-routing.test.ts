import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { keyAuthentication } from '../../../functions/http/authentication.ts';
import { generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { createSandbox, type Pairing, type Sandbox } from '../../../functions/tenancy/organizations.ts';
import { anApiKey, NOW } from '../../builders.ts';
import { casesOf } from '../../support/cases.ts';
import { capturingLogger } from '../aws/capturing-logger.ts';
import { aRequest, createThing, createThingWith, envelope, send, thingRoute } from './call.ts';
import { aThing, type FindSandbox, type InMemory, inMemory } from './in-memory.ts';

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

describe('an idempotency key', () => {
  const thingId = newId('whk', NOW);

  it('is distinct in live, in the sandbox, and in each of its generations', async () => {
    const service = withSandboxKey();
    const live = generateApiKey('live');
    service.keys.set(hashApiKey(live), { ...service.key, environment: 'live' });
    const headers = { 'Idempotency-Key': 'cc9b6afc-7f50-4f6c-8d4e-1f4a2f0f6a3e' };
    const useCase = createThing();
    const answers: unknown[] = [];
    const ask = async (secret: string, name: string) => {
      const event = aRequest(
        { ...service, secret },
        { headers, pathParameters: { id: thingId }, body: JSON.stringify({ name }) },
      );
      answers.push((await send(thingRoute, service, event, useCase)).body);
    };
    for (const times of [1, 2]) {
      await ask(live, 'live');
      for (const generation of [1, 2]) {
        changed(service, { sandbox: { generation } });
        await ask(service.secret, `sandbox ${generation}`);
      }
      expect(useCase.runs(), `${times}`).toBe(3 * times);
    }
    expect(service.commits).toHaveLength(3);
    const names = ['live', 'sandbox 1', 'sandbox 2'].map((name) => ({ success: true, data: { name } }));
    expect(answers).toEqual([...names, ...names]);
  });
});

const POOL = [0, 1, 2, 3].map(() => newId('org', NOW));
const anOrg = fc.constantFrom(...POOL);
const createdAt = NOW.toISOString();
const generation = fc.integer({ min: 0, max: 3 });
const aPairing = (liveOrganizationId: OrgId, sandboxOrganizationId: OrgId): Pairing => ({
  liveOrganizationId,
  sandboxOrganizationId,
  createdAt,
});
const aSandbox = (id: OrgId, liveOrganizationId: OrgId, at: number): Sandbox => ({
  id,
  environment: 'sandbox',
  liveOrganizationId,
  generation: at,
});
/** Answers as a store does: items of any organizations, or of two that name each other. */
const stored = fc.oneof(
  fc.record({
    pairing: fc.option(fc.tuple(anOrg, anOrg), { nil: undefined }).map((ids) => ids && aPairing(...ids)),
    sandbox: fc
      .option(fc.tuple(anOrg, anOrg, generation), { nil: undefined })
      .map((parts) => parts && aSandbox(...parts)),
  }),
  fc.tuple(anOrg, anOrg, generation).map(([live, sandbox, at]) => ({
    pairing: aPairing(live, sandbox),
    sandbox: aSandbox(sandbox, live, at),
  })),
);

describe('the sandbox of a key', () => {
  const ask = async (orgId: OrgId, of: (asked: OrgId) => Awaited<ReturnType<FindSandbox>>) => {
    const key = anApiKey({ orgId, environment: 'sandbox' });
    const asked: OrgId[] = [];
    const authenticate = keyAuthentication(
      {
        find: async () => key,
        noteUse: async () => undefined,
      },
      async (id) => {
        asked.push(id);
        return of(id);
      },
      capturingLogger().log,
    );
    const event = aRequest({ ...inMemory(), secret: generateApiKey('sandbox') });
    return { caller: await authenticate(event, thingRoute), asked };
  };

  it('is the paired one when both items name each other, and none otherwise', async () => {
    const met = new Set<boolean>();
    await fc.assert(
      fc.asyncProperty(anOrg, fc.array(stored, { minLength: 4, maxLength: 4 }), async (orgId, items) => {
        const of = (id: OrgId) => items[POOL.indexOf(id)] ?? { pairing: undefined, sandbox: undefined };
        const { caller, asked } = await ask(orgId, of);
        // Reads only the items of the key's own organization.
        expect(asked).toEqual([orgId]);
        const { pairing, sandbox } = of(orgId);
        const holds =
          pairing?.liveOrganizationId === orgId &&
          sandbox?.liveOrganizationId === orgId &&
          sandbox.id === pairing.sandboxOrganizationId &&
          sandbox.id !== orgId &&
          sandbox.generation > 0;
        met.add(holds);
        if (!holds) expect(caller).toMatchObject({ kind: 'problem', type: 'AUTHENTICATION_ERROR' });
        else
          expect(caller).toMatchObject({
            tenant: { orgId: sandbox.id, generation: sandbox.generation },
            bucket: { orgId: sandbox.id, kind: 'sandbox' },
            tier: 'sandbox',
          });
        if (!('kind' in caller)) expect(JSON.stringify(caller)).not.toContain(orgId);
      }),
      { numRuns: casesOf(500, 3000) },
    );
    expect(met).toEqual(new Set([true, false]));
  });

  it('is logged when there is none, and not otherwise', async () => {
    for (const [service, lines] of [
      [withSandboxKey(), 0],
      [changed(withSandboxKey(), { pairing: 'gone' }), 1],
    ] as const) {
      await createThingWith({}, service);
      expect(service.logger.lines).toHaveLength(lines);
    }
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
