import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { newId } from '../../../functions/aws/ids.ts';
import { parseCookie, sessionAuthentication } from '../../../functions/http/authentication.ts';
import { success } from '../../../functions/http/reply.ts';
import type { Method, Route } from '../../../functions/http/route.ts';
import { generateApiKey } from '../../../functions/tenancy/api-keys.ts';
import type { Environment, Role, Session } from '../../../functions/tenancy/tenant.ts';
import { aSession, NOW } from '../../builders.ts';
import { aRequest, envelope, send } from './call.ts';
import { inMemory, MISSING_ORGANIZATION } from './in-memory.ts';

const DASHBOARD = 'https://dashboard.example.com';
const orgId = newId('org', NOW);

const sessions: Record<string, Session> = {
  'admin-token': aSession({ userId: 'ada', orgId }),
  'member-token': aSession({ userId: 'mia', orgId, role: 'member' }),
  'orphan-token': aSession({ userId: 'otto', orgId: MISSING_ORGANIZATION }),
};

const settingsRoute = (method: Method, role: Role) =>
  ({
    name: 'change-settings',
    ...(method === 'GET' ? { method } : { method, audit: 'none' as const }),
    path: '/settings/things',
    role,
    params: z.object({}),
    query: z.object({}),
    success: { status: 200, data: z.object({ name: z.string() }) },
  }) satisfies Route;

/** Requests a settings route; also returns the verified tokens and the tenant of the use case. */
async function request(
  headers: Record<string, string | undefined>,
  { method = 'PATCH', role = 'admin', dashboardOrigin = DASHBOARD, environment = 'live' }: Asked = {},
) {
  const service = inMemory();
  service.environment = environment;
  const verified: string[] = [];
  const tenants: unknown[] = [];
  service.ports.authenticate = sessionAuthentication(
    async (token) => {
      verified.push(token);
      return sessions[token];
    },
    dashboardOrigin === 'none' ? undefined : dashboardOrigin,
  );
  const event = aRequest(service, {
    headers: { Authorization: undefined, 'Content-Type': undefined, ...headers },
    pathParameters: null,
    body: null,
  });
  const limit = vi.spyOn(service.ports.limiter, 'take');
  const answer = await send(settingsRoute(method, role), service, event, async ({ tenant }) => {
    tenants.push(tenant);
    service.logger.log('CHECK_TOO_LATE', {});
    return success({ name: 'thing' });
  });
  const budgets = limit.mock.calls.map(([bucket]) => bucket);
  return { ...answer, verified, tenants, budgets, lines: service.logger.lines };
}

interface Asked {
  method?: Method;
  role?: Role;
  /** `none`: the stack has no dashboard. */
  dashboardOrigin?: string;
  /** The state of the session's organization. */
  environment?: Environment;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const cookie = (token: string, origin?: string) => ({ Cookie: `__Host-session=${token}`, Origin: origin });

describe('a session', () => {
  it.each([
    ['as a bearer token', bearer('admin-token')],
    ['as a bearer token with a scheme in another case', { authorization: 'bearer   admin-token' }],
    ['in its cookie', cookie('admin-token', DASHBOARD)],
    ['in its cookie among others', { Cookie: 'a=b; __Host-session=admin-token;c=d', Origin: DASHBOARD }],
    [
      'in its cookie, with header names in lower case',
      { cookie: '__Host-session=admin-token', origin: DASHBOARD },
    ],
    ['as a bearer token beside a cookie', { ...bearer('admin-token'), ...cookie('member-token') }],
  ])('is accepted %s, and acts on its organization', async (_, headers) => {
    const { status, tenants, verified, budgets, lines } = await request(headers);
    expect(status).toBe(200);
    expect(budgets).toEqual([{ orgId, kind: 'dashboard' }]);
    expect(tenants).toEqual([{ orgId, generation: 0 }]);
    expect(verified).toEqual(['admin-token']);
    expect(lines).toMatchObject([{ orgId, userId: 'ada' }]);
    expect(JSON.stringify(lines)).not.toContain('admin-token');
  });

  it.each([
    ['nothing', {}, []],
    ['an empty header', { Authorization: '' }, []],
    ['another scheme', { Authorization: 'Basic YTpi' }, []],
    ['the scheme alone', { Authorization: 'Bearer ' }, []],
    ['two tokens', { Authorization: 'Bearer admin-token admin-token' }, []],
    ['an unknown token', bearer('unknown'), ['unknown']],
    ['a malformed API key', bearer('ck_live_short'), ['ck_live_short']],
    ['an unknown token in the cookie', cookie('unknown', DASHBOARD), ['unknown']],
    ['an empty cookie', cookie('', DASHBOARD), []],
    ['a cookie of another name', { Cookie: 'session=admin-token', Origin: DASHBOARD }, []],
    ['a cookie whose name only ends like the session cookie', { Cookie: 'x__Host-session=admin-token' }, []],
    ['a cookie whose name is in capitals', { Cookie: '__HOST-SESSION=admin-token' }, []],
    ['two such cookies', { Cookie: '__Host-session=admin-token; __Host-session=member-token' }, []],
    [
      'another scheme beside a cookie',
      { Authorization: 'Basic YTpi', ...cookie('admin-token', DASHBOARD) },
      [],
    ],
    [
      'a bad token beside a good cookie',
      { ...bearer('unknown'), ...cookie('admin-token', DASHBOARD) },
      ['unknown'],
    ],
    ['a session of an organization that does not exist', bearer('orphan-token'), ['orphan-token']],
  ])('is missing in a request with %s', async (_, headers, looked) => {
    const { status, headers: answered, body, tenants, verified } = await request(headers);
    expect(status).toBe(401);
    expect(body).toEqual(envelope('AUTHENTICATION_ERROR'));
    expect(answered).toMatchObject({ 'WWW-Authenticate': expect.stringMatching(/^Bearer /) });
    expect(tenants).toEqual([]);
    expect(verified).toEqual(looked);
  });

  it('is invalid and logged when its organization does not exist', async () => {
    const { lines } = await request(bearer('orphan-token'));
    expect(lines).toContainEqual(
      expect.objectContaining({ code: 'CALLER_NOT_LIVE', orgId: MISSING_ORGANIZATION }),
    );
  });

  it('is invalid and logged when its organization is a sandbox, which has no users', async () => {
    const { status, body, tenants, lines } = await request(bearer('admin-token'), { environment: 'sandbox' });
    expect(status).toBe(401);
    expect(body).toEqual(envelope('AUTHENTICATION_ERROR'));
    expect(tenants).toEqual([]);
    expect(lines).toMatchObject([{ level: 'WARN', orgId, message: expect.stringContaining('not live') }]);
  });

  it('cannot be verified while the issuer is down: the answer is 503', async () => {
    const service = inMemory();
    service.ports.authenticate = sessionAuthentication(async () => {
      throw Object.assign(new Error('canary'), { name: 'IssuerUnavailable' });
    }, undefined);
    const event = aRequest(service, { headers: bearer('admin-token'), pathParameters: null });
    const { status, body, headers } = await send(settingsRoute('GET', 'member'), service, event, async () =>
      success({ name: 'thing' }),
    );
    expect(status).toBe(503);
    expect(body).toEqual(envelope('SERVICE_UNAVAILABLE', expect.not.stringContaining('canary')));
    expect(headers).toMatchObject({ 'Retry-After': expect.stringMatching(/^[1-9]\d*$/) });
  });
});

describe('an API key where a session is required', () => {
  it.each(['live', 'sandbox'] as const)('is refused without a lookup: %s', async (environment) => {
    for (const headers of [
      bearer(generateApiKey(environment)),
      { ...bearer(generateApiKey(environment)), ...cookie('x') },
    ]) {
      const { status, body, verified, tenants } = await request(headers, { method: 'GET', role: 'member' });
      expect(status).toBe(403);
      expect(body).toEqual(envelope('PERMISSION_DENIED', expect.stringContaining('session')));
      expect([verified, tenants]).toEqual([[], []]);
    }
  });
});

describe('a role', () => {
  it.each([
    ['admin', 'admin', 200],
    ['admin', 'member', 200],
    ['member', 'member', 200],
    ['member', 'admin', 403],
  ] as const)('of %s is answered, where %s is required, with %i', async (has, role, expected) => {
    const { status, body, tenants } = await request(bearer(`${has}-token`), { role });
    expect(status).toBe(expected);
    expect(tenants).toHaveLength(expected === 200 ? 1 : 0);
    if (expected === 403)
      expect(body).toEqual(envelope('PERMISSION_DENIED', expect.stringContaining('admin')));
  });
});

describe('a session in the cookie', () => {
  it.each<[string, string | undefined]>([
    ['absent', undefined],
    ['empty', ''],
    ['null', 'null'],
    ['another site', 'https://attacker.example'],
    ['a subdomain', 'https://x.dashboard.example.com'],
    ['the domain above', 'https://example.com'],
    ['another scheme', 'http://dashboard.example.com'],
    ['another port', 'https://dashboard.example.com:8443'],
    ['one with the same beginning', `${DASHBOARD}.attacker.example`],
    ['one with the same end', 'https://attacker-dashboard.example.com'],
    ['one with a path', `${DASHBOARD}/`],
    ['in capitals', DASHBOARD.toUpperCase()],
    ['two origins', `${DASHBOARD} https://attacker.example`],
    ['credentials before it', 'https://attacker@dashboard.example.com'],
  ])('changes nothing when the origin is %s', async (_, origin) => {
    for (const method of ['POST', 'PATCH', 'DELETE'] as const) {
      const { status, body, tenants } = await request(cookie('admin-token', origin), { method });
      expect(status).toBe(403);
      expect(body).toEqual(envelope('PERMISSION_DENIED', expect.stringContaining('Origin')));
      expect(tenants).toEqual([]);
    }
  });

  it('permits changes from the dashboard', async () => {
    for (const method of ['POST', 'PATCH', 'DELETE'] as const)
      expect(await request(cookie('admin-token', DASHBOARD), { method })).toMatchObject({ status: 200 });
  });

  it('permits reads from any origin', async () => {
    for (const origin of [undefined, 'null', 'https://attacker.example'])
      expect(await request(cookie('admin-token', origin), { method: 'GET' })).toMatchObject({ status: 200 });
  });

  it.each(['none', 'data:text/html,dashboard'])(
    'permits no change when the stack has no dashboard origin: %s',
    async (dashboardOrigin) => {
      for (const origin of [undefined, 'null', 'undefined', '', dashboardOrigin])
        expect(await request(cookie('admin-token', origin), { dashboardOrigin })).toMatchObject({
          status: 403,
        });
    },
  );

  it.each([`${DASHBOARD}/`, `${DASHBOARD}:443`, `${DASHBOARD}/settings?tab=keys`])(
    "matches the dashboard's origin when its URL is configured as %s",
    async (dashboardOrigin) => {
      const { status } = await request(cookie('admin-token', DASHBOARD), { dashboardOrigin });
      expect(status).toBe(200);
    },
  );

  it('needs no origin when it is a bearer token, which browsers do not add', async () => {
    for (const Origin of [undefined, 'https://attacker.example'])
      expect(await request({ ...bearer('admin-token'), Origin })).toMatchObject({ status: 200 });
  });
});

type Event = Parameters<typeof parseCookie>[0];
const requestWith = (cookie: string) => ({ headers: { Cookie: cookie } }) as unknown as Event;

/** The characters of a cookie's value (RFC 6265bis, 4.1.1). */
const aValue = fc.stringMatching(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/);

describe('a cookie', () => {
  it('has the value that the browser sent, equals signs included', () => {
    fc.assert(
      fc.property(aValue, aValue, (value, other) => {
        expect(parseCookie(requestWith(`a=${other}; wanted=${value}; b=${other}`), 'wanted')).toBe(value);
      }),
    );
  });

  it.each([
    ['none', 'other=1'],
    ['no value', 'wanted='],
    ['two of the name', 'wanted=1; wanted=2'],
    ['a name that only ends like it', 'unwanted=1'],
    ['nothing but the name', 'wanted'],
  ])('is absent where there is %s', (_, cookies) => {
    expect(parseCookie(requestWith(cookies), 'wanted')).toBeUndefined();
  });
});
