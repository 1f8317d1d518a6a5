import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { UseCase } from '../../../functions/http/api.ts';
import { sessionAuthentication } from '../../../functions/http/authentication.ts';
import type { SetupEffect } from '../../../functions/http/idempotency.ts';
import { success } from '../../../functions/http/reply.ts';
import { generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { AuditEntry } from '../../../functions/tenancy/audit.ts';
import { createSandbox } from '../../../functions/tenancy/organizations.ts';
import { anApiKey, aSession, NOW } from '../../builders.ts';
import { aRequest, send, thingRoute } from './call.ts';
import { aThing, type InMemory, inMemory } from './in-memory.ts';

const route = { ...thingRoute, audit: 'webhook.created' } as const;
const CHANGED: SetupEffect = {
  id: newId('whk', NOW),
  changes: [{ field: 'url', before: null, after: 'https://example.com/' }],
};

const createThing =
  (audited: SetupEffect | readonly [SetupEffect, ...SetupEffect[]] = CHANGED): UseCase<typeof route> =>
  ({ effect }) =>
    effect(success({ name: 'a thing' }), [aThing('it')], audited);

/** The entries of each commit. */
const entriesOf = (service: InMemory): AuditEntry[][] =>
  service.commits.map((rows) => rows.filter((row) => 'action' in row).map((row) => AuditEntry.parse(row)));

describe('a request on a route with an action', () => {
  it('commits one entry with its effect: who, what, which, when, by which request, and the changes', async () => {
    const service = inMemory();
    await send(route, service, aRequest(service), createThing());

    expect(service.commits).toHaveLength(1);
    expect(service.commits[0]).toContainEqual(expect.objectContaining({ write: 'it' }));
    expect(entriesOf(service)).toEqual([
      [
        {
          id: expect.stringMatching(/^aud_/),
          orgId: service.tenant.orgId,
          action: 'webhook.created',
          targetId: CHANGED.id,
          actorType: 'api_key',
          actorId: service.key.id,
          changes: CHANGED.changes,
          requestId: 'extended-request-id',
          createdAt: NOW.toISOString(),
        },
      ],
    ]);
  });

  it('commits an entry for each change, with its own action where it has one', async () => {
    const service = inMemory();
    const other = { id: 'org_1', action: 'sandbox.provisioned', changes: [] } as const;
    await send(route, service, aRequest(service), createThing([other, CHANGED]));
    expect(entriesOf(service)[0]?.map(({ action, targetId }) => [action, targetId])).toEqual([
      ['sandbox.provisioned', 'org_1'],
      ['webhook.created', CHANGED.id],
    ]);
  });

  it('commits no entry when it replays the response of an earlier request', async () => {
    const service = inMemory();
    const request = aRequest(service);
    await send(route, service, request, createThing());
    const again = await send(
      route,
      service,
      aRequest(service, { headers: request.headers, pathParameters: request.pathParameters }),
      createThing(),
    );
    expect(again.headers).toMatchObject({ 'Idempotency-Replayed': 'true' });
    expect(entriesOf(service)).toHaveLength(1);
  });

  it('commits no entry when its effect is refused', async () => {
    const service = inMemory();
    service.refusal = 'endpoint-limit';
    expect((await send(route, service, aRequest(service), createThing())).status).toBe(500);
    expect(service.commits).toEqual([]);
  });

  it('names the user of a session', async () => {
    const service = inMemory();
    const session = aSession({ orgId: service.tenant.orgId, userId: 'ada', email: 'ada@example.com' });
    const authenticate = sessionAuthentication(async () => session, undefined);
    const { scope, idempotency, ...facts } = route;
    const settings = { ...facts, role: 'admin' } as const;
    const ports = { ...service.ports, authenticate };
    const request = aRequest(service, { headers: { Authorization: 'Bearer a.b.c' } });
    await send(settings, { ...service, ports }, request, ({ effect }) =>
      effect(success({ name: 'a thing' }), [], CHANGED),
    );
    expect(entriesOf(service)[0]).toMatchObject([
      { actorType: 'user', actorId: 'ada', actorEmail: 'ada@example.com' },
    ]);
  });

  it('belongs to the sandbox with a sandbox key', async () => {
    const service = inMemory();
    const secret = generateApiKey('sandbox');
    const key = anApiKey({ orgId: service.tenant.orgId, environment: 'sandbox' });
    service.keys.set(hashApiKey(secret), key);
    const pair = createSandbox(key.orgId, NOW);
    service.sandboxes.set(key.orgId, pair);
    const request = aRequest(service, { headers: { Authorization: `Bearer ${secret}` } });
    await send(route, service, request, createThing());
    expect(entriesOf(service)[0]).toMatchObject([{ orgId: pair.sandbox.id, actorId: key.id }]);
  });
});

describe('a request on a route without an action', () => {
  it('commits no entry', async () => {
    const service = inMemory();
    await send(thingRoute, service, aRequest(service), ({ effect }) =>
      effect(success({ name: 'a thing' }), [aThing('it')]),
    );
    expect(service.commits).toHaveLength(1);
    expect(entriesOf(service)).toEqual([[]]);
  });
});
