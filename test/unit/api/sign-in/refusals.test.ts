import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COOKIES } from '../../../../functions/api/sign-in/sign-in.ts';
import { NOW } from '../../../builders.ts';
import { aDashboard, codesOf, type Dashboard, signedIn } from './dashboard-client.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

const now = NOW.getTime() / 1000;

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
