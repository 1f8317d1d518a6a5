import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { authenticateByMode, sessionAuthentication } from '../../../functions/http/authentication.ts';
import { success } from '../../../functions/http/reply.ts';
import { type Method, type Route, settingsPath } from '../../../functions/http/route.ts';
import { generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import type { RateBucket } from '../../../functions/tenancy/keys.ts';
import { createSandbox } from '../../../functions/tenancy/organizations.ts';
import type { Role, Tenant } from '../../../functions/tenancy/tenant.ts';
import { anApiKey, aSession, NOW } from '../../builders.ts';
import { aRequest, envelope, send } from './call.ts';
import { type InMemory, inMemory } from './in-memory.ts';

const DASHBOARD = 'https://dashboard.example.com';
const KEYS = '/v1/things/{id}';
const SETTINGS = '/settings/things/{id}';
const NONE = { pairing: undefined, sandbox: undefined };

const aRoute = (method: Method, dashboard: Role | 'none') =>
  ({
    name: 'change-thing',
    ...(method === 'GET' ? { method } : { method, audit: 'none' as const }),
    path: KEYS,
    scope: 'write:webhooks',
    ...(dashboard === 'none' ? {} : { dashboard }),
    params: z.object({ id: z.string() }),
    query: z.object({}),
    success: { status: 200, data: z.object({ name: z.string() }) },
  }) satisfies Route;

interface Asked {
  service?: InMemory;
  resource?: string;
  method?: Method;
  /** The role that the settings path requires. */
  dashboard?: Role | 'none';
  headers?: Record<string, string | undefined>;
  environment?: string | undefined;
  /** The role of the caller. */
  role?: Role;
}

/**
 * Calls a route with two authentication modes. Also returns the tenant, the charged budget, and what was
 * loaded and read.
 */
async function request({
  service = inMemory(),
  resource = SETTINGS,
  method = 'PATCH',
  dashboard = 'admin',
  headers,
  environment,
  role = 'admin',
}: Asked) {
  const { authenticate: keys } = service.ports;
  const { take } = service.ports.limiter;
  const findSandbox = vi.fn(async (id: Tenant['orgId']) => service.sandboxes.get(id) ?? NONE);
  const sessions = vi.fn(async () =>
    sessionAuthentication(
      async (token) => (token === 'a.b.c' ? aSession({ orgId: service.key.orgId, role }) : undefined),
      DASHBOARD,
    ),
  );
  const budgets: [RateBucket, string][] = [];
  service.ports.authenticate = authenticateByMode(keys, sessions, findSandbox);
  service.ports.limiter.take = async (bucket, tier, now) => {
    budgets.push([bucket, tier]);
    return take(bucket, tier, now);
  };
  const tenants: Tenant[] = [];
  const event = aRequest(service, {
    httpMethod: method,
    resource,
    headers: { Authorization: 'Bearer a.b.c', ...headers },
    pathParameters: { id: 'one' },
    queryStringParameters: environment === undefined ? null : { environment },
    body: null,
  });
  const answer = await send(aRoute(method, dashboard), service, event, async ({ tenant }) => {
    tenants.push(tenant);
    return success({ name: 'thing' }, { location: '/api/v1/things/one' });
  });
  const [loads, reads] = [sessions.mock.calls.length, findSandbox.mock.calls.length];
  return { ...answer, tenants, budgets, loads, reads, service };
}

const withKey = ({ secret }: InMemory) => ({ Authorization: `Bearer ${secret}` });

/** The service, whose organization has a sandbox of this generation. */
function withSandbox(generation = 1): InMemory & { sandboxId: string } {
  const service = inMemory();
  const { pairing, sandbox } = createSandbox(service.key.orgId, NOW);
  service.sandboxes.set(service.key.orgId, { pairing, sandbox: { ...sandbox, generation } });
  return Object.assign(service, { sandboxId: sandbox.id });
}

describe('the settings path of a route', () => {
  it("is the route's path below /settings, without a version", () => {
    expect(settingsPath({ path: '/v1/webhooks/{id}/stats', dashboard: 'member' })).toBe(
      '/settings/webhooks/{id}/stats',
    );
  });

  it('is missing unless the route names a required role', () => {
    expect(settingsPath({ path: '/v1/webhooks' })).toBeUndefined();
  });
});

describe('apiKey authentication', () => {
  it('accepts a key, without loading the session verifier', async () => {
    const service = inMemory();
    const asked = { service, resource: KEYS, headers: withKey(service) };
    const { status, loads, tenants, headers } = await request(asked);
    expect([status, loads, tenants]).toEqual([200, 0, [service.tenant]]);
    expect(headers.Location).toBe('/api/v1/things/one');
  });

  it.each([
    ['as a bearer', { Authorization: 'Bearer a.b.c' }],
    ['in the cookie', { Authorization: undefined, Cookie: '__Host-session=a.b.c', Origin: DASHBOARD }],
  ])('accepts no session %s', async (_, headers) => {
    const { status, body, loads } = await request({ resource: KEYS, headers });
    expect([status, body, loads]).toEqual([401, envelope('AUTHENTICATION_ERROR'), 0]);
  });

  it("uses the key's environment, and knows no parameter for it", async () => {
    const service = withSandbox();
    const asked = { service, resource: KEYS, headers: withKey(service), environment: 'sandbox' };
    const { status, body, tenants } = await request(asked);
    expect([status, tenants]).toEqual([400, []]);
    expect(body).toEqual(envelope('VALIDATION_ERROR', 'environment is not a known parameter.'));
  });

  it("is the only mode of a route without a role, regardless of the resource's name", async () => {
    const { status, loads } = await request({ resource: SETTINGS, dashboard: 'none' });
    expect([status, loads]).toEqual([401, 0]);
  });
});

describe('session authentication', () => {
  it("accepts a session, in the dashboard's budget, and returns its own path", async () => {
    const { status, tenants, budgets, headers, service } = await request({});
    const { orgId } = service.key;
    expect([status, tenants]).toEqual([200, [{ orgId, generation: 0 }]]);
    expect(budgets).toEqual([[{ orgId, kind: 'dashboard' }, 'standard']]);
    expect(headers.Location).toBe('/api/settings/things/one');
  });

  it.each(['live', 'sandbox'] as const)(
    'accepts no %s key, with or without a session',
    async (environment) => {
      const service = withSandbox();
      const secret = generateApiKey(environment);
      service.keys.set(hashApiKey(secret), anApiKey({ orgId: service.key.orgId, environment }));
      const { status, body, tenants } = await request({
        service,
        headers: { Authorization: `Bearer ${secret}`, Cookie: '__Host-session=a.b.c', Origin: DASHBOARD },
      });
      expect([status, body, tenants]).toEqual([403, envelope('PERMISSION_DENIED'), []]);
    },
  );

  it("is selected by the gateway's path alone", async () => {
    const claims = { 'X-Original-URL': SETTINGS, 'X-Forwarded-Path': SETTINGS, Resource: SETTINGS };
    const { status, loads } = await request({ resource: KEYS, headers: claims });
    expect([status, loads]).toEqual([401, 0]);
  });

  it.each([
    ['admins', 'admin', 'member', 403],
    ['members', 'member', 'member', 200],
    ['members', 'member', 'admin', 200],
  ] as const)('answers on a route for %s (%s) a %s with %i', async (_, dashboard, role, expected) => {
    const { status, budgets } = await request({ dashboard, role });
    // A refused request uses up the budget as well.
    expect([status, budgets.length]).toEqual([expected, 1]);
  });
});

describe('the environment of a session request', () => {
  it.each([undefined, 'live'])('is live as %j, without a read', async (environment) => {
    const { tenants, reads, service } = await request({ service: withSandbox(), environment });
    expect([tenants, reads]).toEqual([[service.tenant], 0]);
  });

  it('is the organization’s sandbox at its current generation, in the budget of its dashboard', async () => {
    const service = withSandbox(7);
    const { status, tenants, budgets } = await request({ service, environment: 'sandbox' });
    expect([status, tenants]).toEqual([200, [{ orgId: service.sandboxId, generation: 7 }]]);
    expect(budgets).toEqual([[{ orgId: service.key.orgId, kind: 'dashboard' }, 'standard']]);
  });

  it('is a conflict where there is no sandbox', async () => {
    const { status, body, tenants } = await request({ environment: 'sandbox' });
    expect([status, body, tenants]).toEqual([409, envelope('SANDBOX_NOT_PROVISIONED'), []]);
  });

  it('is never another organization’s sandbox, regardless of the stored pairing', async () => {
    const service = withSandbox();
    const [foreign = NONE] = withSandbox().sandboxes.values();
    service.sandboxes.set(service.key.orgId, foreign);
    const { status, tenants } = await request({ service, environment: 'sandbox' });
    expect([status, tenants]).toEqual([500, []]);
  });

  it.each(['', 'test', 'LIVE', 'live,sandbox'])('is refused as %j', async (environment) => {
    const { status, body, tenants, reads } = await request({ environment });
    expect([status, tenants, reads]).toEqual([400, [], 0]);
    expect(body).toEqual(envelope('VALIDATION_ERROR', 'environment must be one of live, sandbox.'));
  });

  it('is not read for a user without the required role', async () => {
    const { status, reads } = await request({ role: 'member', environment: 'sandbox' });
    expect([status, reads]).toEqual([403, 0]);
  });
});
