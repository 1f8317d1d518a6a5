import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COOKIES } from '../../../../functions/api/sign-in/sign-in.ts';
import { newId } from '../../../../functions/aws/ids.ts';
import { FAILED_INVOCATIONS } from '../../../../functions/aws/metrics.ts';
import { later, NOW, seconds } from '../../../builders.ts';
import { publishedDuring } from '../../aws/capturing-logger.ts';
import { KEYS, ORGANIZATION, wrongly } from '../../tenancy/issuer-fixture.ts';
import { aDashboard, signedIn } from './dashboard-client.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
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
