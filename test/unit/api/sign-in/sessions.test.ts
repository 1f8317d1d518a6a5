import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COOKIES } from '../../../../functions/api/sign-in/sign-in.ts';
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
