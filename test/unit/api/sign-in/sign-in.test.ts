import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COOKIES, fromCookie } from '../../../../functions/api/sign-in/sign-in.ts';
import { newId } from '../../../../functions/aws/ids.ts';
import { FAILED_INVOCATIONS } from '../../../../functions/aws/metrics.ts';
import { later, NOW, seconds } from '../../../builders.ts';
import { publishedDuring } from '../../aws/capturing-logger.ts';
import { CLIENT, KEYS, ORGANIZATION, wrongly } from '../../tenancy/issuer-fixture.ts';
import { aDashboard, codesOf, type Dashboard, ORIGIN, signedIn } from './dashboard-client.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

const HOUR = 3600;
const now = NOW.getTime() / 1000;

describe('sign-in', () => {
  it('begins at the issuer, with the proof of this browser', async () => {
    const dashboard = await aDashboard();
    const { status, location, cookies } = await dashboard.begin({ loginHint: 'ada@example.com' });
    expect(status).toBe(200);
    expect(location.origin + location.pathname).toBe(`${dashboard.issuer.url}/authorize`);
    const attempt = fromCookie(dashboard.jar.get(COOKIES.signIn));
    expect(Object.fromEntries(location.searchParams)).toEqual({
      kept: '1',
      response_type: 'code',
      client_id: CLIENT,
      redirect_uri: `${ORIGIN}/signed-in`,
      scope: 'openid',
      state: attempt?.state,
      nonce: attempt?.nonce,
      code_challenge: createHash('sha256')
        .update(attempt?.verifier ?? '')
        .digest('base64url'),
      code_challenge_method: 'S256',
      login_hint: 'ada@example.com',
    });
    expect(location.href).not.toContain(attempt?.verifier);
    expect(cookies).toEqual([expect.stringMatching(/; Max-Age=600; .*HttpOnly; SameSite=Strict$/)]);
  });

  it('ends with a session for the lifetime of the token, and returns to its path', async () => {
    const dashboard = await aDashboard();
    const { status, data, cookies } = await signedIn(dashboard, '/deliveries?status=exhausted#top');
    expect([status, data]).toEqual([200, { returnTo: '/deliveries?status=exhausted#top' }]);
    expect([...dashboard.jar.keys()].sort()).toEqual([COOKIES.renewal, COOKIES.session]);
    expect(cookies.find((cookie) => cookie.startsWith(COOKIES.session))).toContain(`; Max-Age=${HOUR};`);
    expect(dashboard.jar.get(COOKIES.renewal)).toBe('a-refresh-token');
    expect(codesOf(dashboard)).toEqual(['SIGNED_IN']);
  });

  it('redeems the code with the verifier of its own browser, without a secret', async () => {
    const dashboard = await aDashboard();
    const { state } = await dashboard.begin();
    const attempt = fromCookie(dashboard.jar.get(COOKIES.signIn));
    await dashboard.finish(state, 'the code');
    expect(dashboard.posted).toEqual([
      {
        path: '/token',
        form: {
          grant_type: 'authorization_code',
          code: 'the code',
          redirect_uri: `${ORIGIN}/signed-in`,
          code_verifier: attempt?.verifier,
          client_id: CLIENT,
        },
      },
    ]);
  });

  it('returns to the start page without a path', async () => {
    const dashboard = await aDashboard();
    const { state } = await dashboard.begin();
    expect((await dashboard.finish(state)).data).toEqual({ returnTo: '/' });
  });

  it.each(['//evil.example', 'https://evil.example', '/\\evil.example', '/.//evil.example', ''])(
    'is refused with the path %j',
    async (returnTo) => {
      const dashboard = await aDashboard();
      const { status, error, cookies } = await dashboard.call('begin', { body: { returnTo } });
      expect([status, error?.type, cookies]).toEqual([400, 'VALIDATION_ERROR', []]);
    },
  );

  it('without a new refresh token deletes an earlier one', async () => {
    const dashboard = await aDashboard();
    dashboard.jar.set(COOKIES.renewal, 'of-another-user');
    dashboard.granted.refreshToken = undefined;
    expect((await signedIn(dashboard)).status).toBe(200);
    expect([...dashboard.jar.keys()]).toEqual([COOKIES.session]);
  });

  it('keeps a session whose refresh token is too long for a cookie, and logs it', async () => {
    const dashboard = await aDashboard();
    dashboard.granted.refreshToken = 'x'.repeat(5000);
    expect((await signedIn(dashboard)).status).toBe(200);
    expect([...dashboard.jar.keys()]).toEqual([COOKIES.session]);
    expect(codesOf(dashboard)).toEqual(['SESSION_TOO_LARGE', 'SIGNED_IN']);
  });
});

describe('sign-in is refused', () => {
  const REFUSED = [401, 'AUTHENTICATION_ERROR', false];
  const outcome = async (
    dashboard: Dashboard,
    finished: Promise<{ status: number; error?: { type: string } | undefined }>,
  ) => {
    const { status, error } = await finished;
    return [status, error?.type, dashboard.jar.has(COOKIES.session)];
  };

  it("for a link with another user's code in a browser without a sign-in", async () => {
    const dashboard = await aDashboard();
    expect(await outcome(dashboard, dashboard.finish('x'.repeat(43)))).toEqual(REFUSED);
    expect(dashboard.posted).toEqual([]);
  });

  it("for a link with another user's code and state in a browser with its own sign-in", async () => {
    const [victim, attacker] = [await aDashboard(), await aDashboard()];
    await victim.begin();
    const { state } = await attacker.begin();
    expect(await outcome(victim, victim.finish(state))).toEqual(REFUSED);
    expect(victim.posted).toEqual([]);
    // The browser's own sign-in can continue.
    expect(victim.jar.has(COOKIES.signIn)).toBe(true);
  });

  it('for an answer to an earlier sign-in of the same browser', async () => {
    const dashboard = await aDashboard();
    const { state } = await dashboard.begin();
    await dashboard.begin();
    expect(await outcome(dashboard, dashboard.finish(state))).toEqual(REFUSED);
  });

  it('for a repeated answer', async () => {
    const dashboard = await aDashboard();
    const { state } = await dashboard.begin();
    await dashboard.finish(state);
    dashboard.jar.delete(COOKIES.session);
    expect(await outcome(dashboard, dashboard.finish(state))).toEqual(REFUSED);
    expect(dashboard.posted).toHaveLength(1);
  });

  it('with two sign-in cookies', async () => {
    const dashboard = await aDashboard();
    const { state } = await dashboard.begin();
    const cookie = `${COOKIES.signIn}=${dashboard.jar.get(COOKIES.signIn)}`;
    const finished = dashboard.call('finish', {
      headers: { Cookie: `${cookie}; ${cookie}` },
      body: { code: 'a-code', state },
    });
    expect(await outcome(dashboard, finished)).toEqual(REFUSED);
  });

  it.each<[string, Dashboard['granted']]>([
    ['the code is invalid', { status: 400, body: { error: 'invalid_grant' } }],
    ['the client is unknown', { status: 401, body: { error: 'invalid_client' } }],
    ['the answer has no ID token', { body: { access_token: 'x' } }],
    ['the answer is no object', { body: [] }],
    ['the ID token is malformed', { idToken: 'x' }],
    ['the ID token was made for another sign-in', { token: { claims: { nonce: 'x'.repeat(43) } } }],
    ['the ID token was made for no sign-in', { token: { claims: { nonce: undefined } } }],
    ['the ID token is for another client', { token: { claims: { aud: 'other' } } }],
    ['the ID token is of another issuer', { token: { claims: { iss: 'https://evil.example' } } }],
    ['the ID token has expired', { token: { claims: { exp: now - 60 } } }],
    ['the ID token is an access token', { token: { claims: { token_use: 'access' } } }],
  ])('when %s', async (_, granted) => {
    const dashboard = await aDashboard();
    Object.assign(dashboard.granted, granted);
    expect(await outcome(dashboard, signedIn(dashboard))).toEqual(REFUSED);
    expect(dashboard.jar.has(COOKIES.signIn)).toBe(false);
    expect(codesOf(dashboard)).toEqual(['SIGN_IN_REFUSED']);
  });

  it.each([{ 'custom:organization': undefined }, { 'custom:role': 'owner' }])(
    'for a user without an organization: %j',
    async (claims) => {
      const dashboard = await aDashboard();
      dashboard.granted.token = { claims };
      const { error } = await signedIn(dashboard);
      expect(error).toMatchObject({
        type: 'PERMISSION_DENIED',
        message: expect.stringContaining('no organization'),
      });
      expect([...dashboard.jar.keys()]).toEqual([]);
    },
  );

  it('with an error when the token is too large for a cookie', async () => {
    const dashboard = await aDashboard();
    dashboard.granted.token = { claims: { groups: 'x'.repeat(3500) } };
    const { status, error } = await signedIn(dashboard);
    expect([status, error?.type]).toEqual([403, 'PERMISSION_DENIED']);
    expect([...dashboard.jar.keys()]).toEqual([]);
    expect(codesOf(dashboard)).toEqual(['SESSION_TOO_LARGE']);
  });

  it.each([
    {},
    { code: 'x' },
    { state: 'x' },
    { code: 7, state: 'x' },
    { code: '', state: 'x' },
    { code: 'x'.repeat(2049), state: 'x' },
    null,
    [],
  ])('for the body %j', async (body) => {
    const dashboard = await aDashboard();
    expect((await dashboard.call('finish', { body })).status).toBe(400);
  });
});

describe('sign-in route', () => {
  const CALLS = ['begin', 'finish', 'renew', 'end'] as const;

  describe.each(CALLS)('%s', (name) => {
    it.each([
      ['another origin', 'https://evil.example'],
      ['an origin that begins like the dashboard’s', `${ORIGIN}.evil.example`],
      ['another scheme', 'http://dashboard.example.com'],
      ['another port', `${ORIGIN}:8443`],
      ['no origin', undefined],
      ['a page with an opaque origin', 'null'],
      ['a list of origins', `${ORIGIN}, https://evil.example`],
    ])('rejects a request from %s without any change', async (_, origin) => {
      const dashboard = await aDashboard();
      await signedIn(dashboard);
      const before = new Map(dashboard.jar);
      const asked = dashboard.posted.length;
      const body = { code: 'x', state: 'x' };
      const { status, cookies } = await dashboard.call(name, { headers: { Origin: origin }, body });
      expect([status, cookies]).toEqual([403, []]);
      expect(dashboard.jar).toEqual(before);
      expect(dashboard.posted).toHaveLength(asked);
    });

    it('returns 404 without a configured dashboard', async () => {
      const dashboard = await aDashboard({ dashboardOrigin: undefined });
      const { status, error } = await dashboard.call(name, { body: {} });
      expect([status, error?.type]).toEqual([404, 'NOT_FOUND']);
      expect(dashboard.logger.lines).toEqual([]);
    });

    it('answers in the envelope, which may not be cached', async () => {
      const dashboard = await aDashboard();
      const { result } = await dashboard.call(name, { body: {} });
      expect(result.headers).toMatchObject({
        'Cache-Control': 'no-store',
        'Content-Type': 'application/json',
        'Request-Id': expect.any(String),
      });
    });
  });

  it.each(['begin', 'finish', 'renew'] as const)('%s rejects the content types of forms', async (name) => {
    const dashboard = await aDashboard();
    await signedIn(dashboard);
    for (const type of [
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'text/plain',
      undefined,
    ]) {
      const { status } = await dashboard.call(name, {
        headers: { 'Content-Type': type },
        text: '{"code":"x"}',
      });
      expect(status).toBe(415);
    }
  });

  it.each([
    '{',
    '"x"',
    'null',
    '[]',
    '{"returnTo":7}',
    '{"loginHint":""}',
    `{"loginHint":"${'x'.repeat(321)}"}`,
  ])('rejects %s', async (text) => {
    const dashboard = await aDashboard();
    expect((await dashboard.call('begin', { text })).status).toBe(400);
  });

  it('logs no codes, tokens, verifiers or e-mail addresses', async () => {
    const dashboard = await aDashboard();
    dashboard.granted.refreshToken = 'canary-refresh';
    const { state } = await dashboard.begin({ loginHint: 'canary@example.com', returnTo: '/canary' });
    const attempt = fromCookie(dashboard.jar.get(COOKIES.signIn));
    await dashboard.finish(state, 'canary-code');
    const session = dashboard.jar.get(COOKIES.session) ?? '';
    Object.assign(dashboard.granted, {
      status: 400,
      body: { error: 'invalid_grant', error_description: 'canary' },
    });
    await dashboard.call('renew');
    dashboard.issuer.fault = { answer: wrongly.answering(500, 'canary') };
    await dashboard.call('end');
    await dashboard.call('renew');
    expect(dashboard.logger.lines.length).toBeGreaterThan(2);
    const logged = JSON.stringify(dashboard.logger.lines);
    for (const secret of ['canary', session.slice(-20), state, attempt?.verifier ?? '', attempt?.nonce ?? ''])
      expect(logged).not.toContain(secret);
  });
});

describe('session', () => {
  it('is renewed with the refresh token, which is kept when the issuer returns no other', async () => {
    const dashboard = await aDashboard();
    await signedIn(dashboard);
    const before = dashboard.jar.get(COOKIES.session);
    vi.setSystemTime(later(NOW, seconds(HOUR - 60)));
    dashboard.granted.token = { claims: { iat: now + HOUR - 60, exp: now + 2 * HOUR } };
    dashboard.granted.refreshToken = undefined;
    const { status, data, cookies } = await dashboard.call('renew');
    expect([status, data]).toEqual([200, { expiresAt: later(NOW, seconds(2 * HOUR)).toISOString() }]);
    expect(dashboard.jar.get(COOKIES.session)).not.toBe(before);
    expect(dashboard.jar.get(COOKIES.renewal)).toBe('a-refresh-token');
    expect(cookies[0]).toContain(`Max-Age=${HOUR + 60};`);
    expect(dashboard.posted.at(-1)?.form).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'a-refresh-token',
      client_id: CLIENT,
    });
  });

  it('continues with the newest refresh token', async () => {
    const dashboard = await aDashboard();
    await signedIn(dashboard);
    dashboard.granted.refreshToken = 'the-next';
    await dashboard.call('renew');
    expect(dashboard.jar.get(COOKIES.renewal)).toBe('the-next');
  });

  it('is renewed without a nonce, which belongs only to the sign-in', async () => {
    const dashboard = await aDashboard();
    await signedIn(dashboard);
    dashboard.granted.token = { claims: { nonce: undefined } };
    expect((await dashboard.call('renew')).status).toBe(200);
  });

  it.each<[string, Dashboard['granted']]>([
    ['the refresh token is no longer valid', { status: 400, body: { error: 'invalid_grant' } }],
    ['the issuer returns no ID token', { body: { access_token: 'x' } }],
    [
      'the user no longer belongs to an organization',
      { token: { claims: { 'custom:organization': undefined } } },
    ],
    ['the ID token is for another client', { token: { claims: { aud: 'other' } } }],
  ])("is not renewed when %s, and another page's renewal is kept", async (_, granted) => {
    const dashboard = await aDashboard();
    await signedIn(dashboard);
    const before = new Map(dashboard.jar);
    Object.assign(dashboard.granted, granted);
    const { status, cookies } = await dashboard.call('renew');
    expect([status, cookies]).toEqual([401, []]);
    expect(dashboard.jar).toEqual(before);
  });

  it('is not renewed without a refresh token, and the issuer gets no request', async () => {
    const dashboard = await aDashboard();
    expect((await dashboard.call('renew')).status).toBe(401);
    expect(dashboard.issuer.requests).toEqual([]);
  });

  it('ends here and at the issuer', async () => {
    const dashboard = await aDashboard();
    await signedIn(dashboard);
    await dashboard.begin();
    const { status, data } = await dashboard.call('end');
    expect(status).toBe(200);
    const location = new URL(String(data?.location));
    expect(location.origin + location.pathname).toBe(`${dashboard.issuer.url}/logout`);
    expect(Object.fromEntries(location.searchParams)).toEqual({
      client_id: CLIENT,
      post_logout_redirect_uri: `${ORIGIN}/`,
      logout_uri: `${ORIGIN}/`,
    });
    expect(dashboard.jar.size).toBe(0);
    expect(dashboard.posted.at(-1)).toEqual({
      path: '/revoke',
      form: { token: 'a-refresh-token', token_type_hint: 'refresh_token', client_id: CLIENT },
    });
  });

  it('ends without an error when there is none', async () => {
    const dashboard = await aDashboard();
    const { status, cookies } = await dashboard.call('end');
    expect([status, cookies.length]).toEqual([200, 3]);
    expect(dashboard.posted).toEqual([]);
  });

  it('ends here when the issuer has no endpoint for it', async () => {
    const dashboard = await aDashboard({
      discovery: { revocation_endpoint: undefined, end_session_endpoint: undefined },
    });
    await signedIn(dashboard);
    expect((await dashboard.call('end')).data).toEqual({ location: '/' });
    expect(dashboard.jar.size).toBe(0);
  });

  it.each([
    ['is down', wrongly.hangingUp],
    ['does not answer', wrongly.never],
    ['fails', wrongly.answering(500)],
    ['refuses', wrongly.answering(400, '{"error":"invalid_token"}')],
  ])('ends here when the issuer %s', async (_, answer) => {
    const dashboard = await aDashboard(answer === wrongly.never ? { issuerTimeoutMs: 1500 } : {});
    await signedIn(dashboard);
    dashboard.issuer.fault = { path: '/revoke', answer };
    const { status } = await dashboard.call('end');
    expect([status, dashboard.jar.size]).toEqual([200, 0]);
    expect(codesOf(dashboard)).toContain('REVOCATION_FAILED');
  });
});

describe('issuer that', () => {
  it.each([
    ['hangs up', wrongly.hangingUp],
    ['fails', wrongly.answering(500, '{"id_token":"x"}')],
    ['is busy', wrongly.answering(429)],
    ['redirects', wrongly.answering(302, '', { location: '/elsewhere' })],
    ['does not answer', wrongly.never],
  ])('%s at the token endpoint keeps the sign-in, which can be retried', async (_, answer) => {
    const dashboard = await aDashboard(answer === wrongly.never ? { issuerTimeoutMs: 1500 } : {});
    const { state } = await dashboard.begin();
    dashboard.issuer.fault = { path: '/token', answer };
    const metrics = await publishedDuring(async () => {
      const { status, error } = await dashboard.finish(state);
      expect([status, error?.type]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    });
    expect(metrics).toMatchObject({ [FAILED_INVOCATIONS]: 1 });
    expect(dashboard.jar.has(COOKIES.signIn)).toBe(true);
    expect(dashboard.issuer.requests).not.toContain('/elsewhere');
    dashboard.issuer.fault = undefined;
    vi.setSystemTime(later(NOW, seconds(6)));
    expect((await dashboard.finish(state)).status).toBe(200);
  });

  it('does not publish its keys gets no request for a token, which could not be verified', async () => {
    const dashboard = await aDashboard();
    const { state } = await dashboard.begin();
    dashboard.issuer.fault = { path: KEYS, answer: wrongly.answering(503) };
    expect((await dashboard.finish(state)).status).toBe(503);
    expect(dashboard.posted).toEqual([]);
    dashboard.issuer.fault = undefined;
    vi.setSystemTime(later(NOW, seconds(6)));
    expect((await dashboard.finish(state)).status).toBe(200);
    dashboard.issuer.fault = { path: KEYS, answer: wrongly.answering(503) };
    vi.setSystemTime(later(NOW, seconds(3000)));
    const before = dashboard.posted.length;
    expect((await dashboard.call('renew')).status).toBe(503);
    expect(dashboard.posted).toHaveLength(before);
  });

  it.each([
    ['has no authorization endpoint', { authorization_endpoint: undefined }],
    ['has an authorization endpoint without TLS', { authorization_endpoint: 'http://10.0.0.1/authorize' }],
    ['has an authorization endpoint that is no web URL', { authorization_endpoint: 'javascript:alert(1)' }],
    ['has another issuer id', { issuer: 'https://evil.example' }],
  ])('%s cannot start a sign-in', async (_, discovery) => {
    const dashboard = await aDashboard({ discovery });
    const { status, cookies } = await dashboard.call('begin', { body: {} });
    expect([status, cookies]).toEqual([503, []]);
  });

  it('has a token endpoint without TLS gets no code', async () => {
    const dashboard = await aDashboard({ discovery: { token_endpoint: 'http://0.0.0.0:1/token' } });
    const { state } = await dashboard.begin();
    expect((await dashboard.finish(state)).status).toBe(503);
  });

  it('works gets one request for its endpoints', async () => {
    const dashboard = await aDashboard();
    await signedIn(dashboard);
    await signedIn(dashboard);
    expect(dashboard.issuer.requests.filter((path) => path.startsWith('/.well-known'))).toHaveLength(1);
  });

  it('works signs in users of any organization in its tokens', async () => {
    const dashboard = await aDashboard();
    const other = newId('org', NOW);
    dashboard.granted.token = { claims: { 'custom:organization': other } };
    await signedIn(dashboard);
    expect(other).not.toBe(ORGANIZATION);
    expect(dashboard.logger.lines.at(-1)).toMatchObject({ code: 'SIGNED_IN', orgId: other });
  });
});
