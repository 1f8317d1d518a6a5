import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COOKIES, fromCookie } from '../../../../functions/api/sign-in/sign-in.ts';
import { NOW } from '../../../builders.ts';
import { CLIENT, wrongly } from '../../tenancy/issuer-fixture.ts';
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
