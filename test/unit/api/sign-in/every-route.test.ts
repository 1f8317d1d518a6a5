import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COOKIES, fromCookie } from '../../../../functions/api/sign-in/sign-in.ts';
import { NOW } from '../../../builders.ts';
import { wrongly } from '../../tenancy/issuer-fixture.ts';
import { aDashboard, ORIGIN, signedIn } from './dashboard-client.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
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
