import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COOKIES, fromCookie } from '../../../../functions/api/sign-in/sign-in.ts';
import { NOW } from '../../../builders.ts';
import { CLIENT } from '../../tenancy/issuer-fixture.ts';
import { aDashboard, codesOf, ORIGIN, signedIn } from './dashboard-client.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

const HOUR = 3600;

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
