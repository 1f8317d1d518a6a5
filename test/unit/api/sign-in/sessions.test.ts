import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COOKIES } from '../../../../functions/api/sign-in/sign-in.ts';
import { later, NOW, seconds } from '../../../builders.ts';
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
