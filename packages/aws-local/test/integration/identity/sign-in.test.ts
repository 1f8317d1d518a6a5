import { decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { aBrowser, type Page } from './a-browser.ts';
import { anApplication, Tokens, verified } from './an-application.ts';
import { admin, anIdentity, organization } from './an-identity.ts';

const right = { email: admin.email, password: admin.password };

/** Signs in at a new identity provider. */
async function signedIn(
  options: Parameters<typeof anIdentity>[0] = {},
  parameters: Record<string, string> = {},
) {
  const provider = await anIdentity(options);
  const application = await anApplication(provider.identity);
  const browser = aBrowser();
  const page = await browser.submit(await browser.open(application.signInUrl(parameters)), right);
  const code = page.leavesTo?.searchParams.get('code') ?? '';
  return { ...provider, application, browser, page, code };
}

async function tokens(response: Response) {
  expect(response.status).toBe(200);
  return Tokens.parse(await response.json());
}

const Problem = z.object({ error: z.string() });

const errorOf = async (response: Response) => {
  expect(response.status).toBe(400);
  const { error } = Problem.parse(await response.json());
  return error;
};

/** In the query, or in the fragment, where tokens would be. */
const errorIn = ({ leavesTo }: Page) =>
  leavesTo?.searchParams.get('error') ?? new URLSearchParams(leavesTo?.hash.slice(1)).get('error');

describe('signing in', () => {
  it('ends with an ID token that has the user, the organization and the role', async () => {
    const { identity, application, page, code, logged } = await signedIn();
    expect(`${page.leavesTo?.origin}${page.leavesTo?.pathname}`).toBe('http://localhost:3000/signed-in');
    expect(page.leavesTo?.searchParams.get('state')).toBe('the-state');

    const { id_token } = await tokens(await application.redeem(code));
    const claims = await verified(id_token, identity);
    expect(claims).toMatchObject({
      nonce: 'the-nonce',
      email: admin.email,
      email_verified: true,
      token_use: 'id',
      'custom:organization': organization,
      'custom:role': 'admin',
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(1800);
    expect(decodeProtectedHeader(id_token).alg).toBe('RS256');
    expect(logged).toEqual([]);
  });

  it('shows the form again when the password is wrong, and then accepts the right one', async () => {
    const { identity } = await anIdentity();
    const application = await anApplication(identity);
    const browser = aBrowser();
    const form = await browser.open(application.signInUrl());
    expect(form.status).toBe(200);
    expect(form.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
    expect(form.headers.get('cache-control')).toBe('no-store');

    const again = await browser.submit(form, { ...right, password: 'wrong' });
    expect(again.status).toBe(422);
    expect(again.text).toContain('role="alert"');
    expect(again.leavesTo).toBeUndefined();
    expect((await browser.submit(again, {})).status).toBe(422);

    const page = await browser.submit(again, right);
    expect(page.leavesTo?.searchParams.get('code')).toBeTruthy();
  });

  it('fills in the e-mail address that the application suggests', async () => {
    const { identity } = await anIdentity();
    const application = await anApplication(identity);
    const form = await aBrowser().open(application.signInUrl({ login_hint: 'someone@local.test' }));
    expect(form.text).toContain('value="someone@local.test"');
  });

  it('is not required again while the browser is signed in, until it signs out', async () => {
    const { application, browser, identity } = await signedIn();
    expect((await browser.open(application.signInUrl())).leavesTo?.searchParams.get('code')).toBeTruthy();
    expect((await browser.open(application.signInUrl({ prompt: 'login' }))).text).toContain(
      '<h1>Sign in</h1>',
    );

    const signOut = new URL(application.endpoints.end_session_endpoint);
    signOut.searchParams.set('client_id', identity.clientId);
    signOut.searchParams.set('post_logout_redirect_uri', 'http://localhost:3000/signed-out');
    const question = await browser.open(signOut.href);
    expect(question.text).toContain('<h1>Sign out?</h1>');
    const left = await browser.submit(question, { logout: 'yes' });
    expect(left.leavesTo?.href).toBe('http://localhost:3000/signed-out');
    expect((await browser.open(application.signInUrl())).text).toContain('<h1>Sign in</h1>');
  });

  it('ends without a question where the application signs out as at Cognito', async () => {
    const { application, browser, identity } = await signedIn();
    const signOut = new URL(application.endpoints.end_session_endpoint);
    signOut.searchParams.set('client_id', identity.clientId);
    signOut.searchParams.set('logout_uri', 'http://localhost:3000/signed-out');
    const left = await browser.open(signOut.href);
    expect(left.leavesTo?.href).toBe('http://localhost:3000/signed-out');
    expect((await browser.open(application.signInUrl())).text).toContain('<h1>Sign in</h1>');
  });

  it.each([
    ['elsewhere', { logout_uri: 'https://evil.example/' }],
    [
      'to an address that only begins like one of the client',
      { logout_uri: 'http://localhost:3000/signed-out/x' },
    ],
    ['for another client', { client_id: 'other' }],
  ])('does not end with a path %s', async (_, changes) => {
    const { application, browser, identity } = await signedIn();
    const signOut = new URL(application.endpoints.end_session_endpoint);
    const parameters = {
      client_id: identity.clientId,
      logout_uri: 'http://localhost:3000/signed-out',
      ...changes,
    };
    for (const [name, value] of Object.entries(parameters)) signOut.searchParams.set(name, value);
    expect((await browser.open(signOut.href)).leavesTo).toBeUndefined();
    expect((await browser.open(application.signInUrl())).leavesTo?.searchParams.get('code')).toBeTruthy();
  });

  it.each([
    ['without a challenge', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['with a challenge in the clear', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with tokens in the address', { response_type: 'id_token' }, 'unsupported_response_type'],
    ['for a scope that the client may not have', { scope: 'openid phone' }, 'invalid_scope'],
  ])('is refused with %s', async (_, parameters, error) => {
    const { identity } = await anIdentity({ pool: { scopes: ['openid', 'email'] } });
    const application = await anApplication(identity);
    expect(errorIn(await aBrowser().open(application.signInUrl(parameters)))).toBe(error);
  });

  it('reports an expired sign-in to a browser without its cookie', async () => {
    const { identity } = await anIdentity();
    const application = await anApplication(identity);
    const form = await aBrowser().open(application.signInUrl());
    const elsewhere = await aBrowser().submit(form, right);
    expect(elsewhere.status).toBe(400);
    expect(elsewhere.text).toContain('This sign-in is over');
  });

  it('shows a page of its own for a redirect to no URL of the client', async () => {
    const { identity } = await anIdentity();
    const application = await anApplication(identity);
    const elsewhere = { redirect_uri: 'http://localhost:3000/signed-in/' };
    const page = await aBrowser().open(application.signInUrl(elsewhere));
    expect([page.status, page.leavesTo]).toEqual([400, undefined]);
    expect(page.text).toContain('This cannot go on');
  });

  it('accepts only an e-mail address and a password', async () => {
    const { identity } = await anIdentity();
    const application = await anApplication(identity);
    const browser = aBrowser();
    const form = await browser.open(application.signInUrl());
    expect((await browser.submit(form, { email: 'a'.repeat(100_000) })).status).toBe(413);
    const response = await fetch(form.url, { method: 'PUT' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  it('returns only the claims of its scopes', async () => {
    const { identity, application, code } = await signedIn({}, { scope: 'openid email' });
    const { id_token } = await tokens(await application.redeem(code));
    const claims = await verified(id_token, identity);
    expect(claims.email).toBe(admin.email);
    expect(claims).not.toHaveProperty('custom:role');
  });
});

describe('the other tokens', () => {
  it("contain the user's claims, and are renewed until they are revoked", async () => {
    const { identity, application, code } = await signedIn();
    const first = await tokens(await application.redeem(code));
    expect(first.expires_in).toBe(1200);
    const userinfo = await fetch(application.endpoints.userinfo_endpoint, {
      headers: { authorization: `Bearer ${first.access_token}` },
    });
    expect(await userinfo.json()).toMatchObject({ email: admin.email, 'custom:role': 'admin' });

    const second = await tokens(await application.refresh(first.refresh_token));
    expect(await verified(second.id_token, identity)).toMatchObject({ 'custom:role': 'admin' });
    expect((await application.revoke(first.refresh_token)).status).toBe(200);
    expect(await errorOf(await application.refresh(first.refresh_token))).toBe('invalid_grant');
  });

  it('are given for a code once, and the second use takes those of the first back', async () => {
    const { application, code } = await signedIn();
    const { access_token, refresh_token } = await tokens(await application.redeem(code));
    expect(await errorOf(await application.redeem(code))).toBe('invalid_grant');
    expect(await errorOf(await application.refresh(refresh_token))).toBe('invalid_grant');
    const userinfo = await fetch(application.endpoints.userinfo_endpoint, {
      headers: { authorization: `Bearer ${access_token}` },
    });
    expect(userinfo.status).toBe(401);
  });

  it('are renewed by a new refresh token each time where the client rotates them, and by no reused one', async () => {
    const { application, code } = await signedIn({ pool: { rotation: true } });
    const first = await tokens(await application.redeem(code));
    const second = await tokens(await application.refresh(first.refresh_token));
    expect(second.refresh_token).not.toBe(first.refresh_token);
    // A reused token may be stolen.
    expect(await errorOf(await application.refresh(first.refresh_token))).toBe('invalid_grant');
    expect(await errorOf(await application.refresh(second.refresh_token))).toBe('invalid_grant');
  });

  it('cannot be revoked where the client does not permit it', async () => {
    const { application } = await signedIn({ pool: { revocation: false } });
    expect(application.endpoints.revocation_endpoint).toBeUndefined();
  });

  it('are available to the pages of the application only', async () => {
    const { application, code } = await signedIn();
    const from = (origin: string) =>
      fetch(application.endpoints.token_endpoint, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ client_id: 'Dashboard', grant_type: 'authorization_code', code }),
      });
    const headerOf = async (origin: string) =>
      (await from(origin)).headers.get('access-control-allow-origin');
    expect(await headerOf('http://localhost:3000')).toBe('http://localhost:3000');
    expect(await headerOf('https://evil.example')).toBeNull();
  });
});

describe('a client that does not use the sign-in page', () => {
  it('gets no users from it, and its users have tokens nevertheless', async () => {
    const { identity } = await anIdentity({ pool: { scopes: [], callbackUrls: [], logoutUrls: [] } });
    const application = await anApplication(identity);
    expect((await aBrowser().open(application.signInUrl())).status).toBe(400);
    const token = await identity.idToken(admin.email, { lifetimeSeconds: 60 });
    expect(await verified(token, identity)).toMatchObject({ 'custom:role': 'admin' });
  });
});
