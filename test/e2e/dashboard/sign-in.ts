import { describe, expect, it } from 'vitest';
import { ADMIN, type Dashboard, MEMBER, signIn } from '../a-dashboard.ts';

const SESSION = '__Host-session';
const RENEWAL = '__Host-renewal';

export const signingIn = (dashboard: Dashboard) =>
  describe('sign-in', () => {
    it('leads through the identity provider to where one wanted to go', async () => {
      const page = await dashboard.signingIn(ADMIN, '/api-keys');
      expect(new URL(page.url()).pathname).toBe('/api-keys');
      await page.getByText(`${ADMIN} · Admin`).waitFor();
    });

    it('keeps the session where no script can read it', async () => {
      const page = await dashboard.signingIn(ADMIN);
      const cookie = (await page.context().cookies(dashboard.origin)).find(({ name }) => name === SESSION);
      expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/' });
      expect(await page.evaluate('document.cookie')).not.toContain('session');
      expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
        'eyJ',
      );
    });

    it('ends with the sign-out, here and at the identity provider', async () => {
      const page = await dashboard.signingIn(ADMIN);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      const names = (await page.context().cookies(dashboard.origin)).map(({ name }) => name);
      expect(names).not.toContain(SESSION);
      expect(names).not.toContain(RENEWAL);
      await page.goto(`${dashboard.origin}/`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByLabel('Password').waitFor();
    });

    it('is told when it fails, and can be tried again', async () => {
      const page = await (await dashboard.context()).newPage();
      await page.goto(`${dashboard.origin}/signed-in?code=forged&state=forged`);
      await page.getByRole('alert').waitFor();
      await page.getByText('Request id').waitFor();
      await page.getByRole('link', { name: 'Sign in again' }).click();
      await signIn(page, ADMIN);
    });

    it('shows what the provider said, as text', async () => {
      const page = await (await dashboard.context()).newPage();
      await page.goto(
        `${dashboard.origin}/signed-in?error=access_denied&error_description=${encodeURIComponent('<script>window.pwned=1</script>')}`,
      );
      await page.getByText('<script>window.pwned=1</script>').waitFor();
    });
  });

export const expiring = (dashboard: Dashboard) =>
  describe('a session that ends', () => {
    const draft = async (url: string) => {
      const page = await dashboard.signingIn(ADMIN, '/endpoints');
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('Address').fill(url);
      await page.getByRole('dialog').getByText('conversation.resolved', { exact: true }).click();
      return page;
    };

    it('is renewed without a word while the provider allows it', async () => {
      const page = await draft('https://example.com/renewed');
      await page.context().clearCookies({ name: SESSION });
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      await page.getByRole('heading', { name: 'The endpoint is ready' }).waitFor();
    });

    it('loses nothing that was typed: after the sign-in in another window it goes on', async () => {
      const page = await draft('https://example.com/typed-before');
      await page.context().clearCookies({ name: SESSION });
      await page.context().clearCookies({ name: RENEWAL });
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
      const opened = page.waitForEvent('popup');
      await page.getByRole('button', { name: 'Sign in in a new window' }).click();
      const popup = await opened;
      // The provider may still know the browser: then it asks for nothing.
      const form = popup.getByLabel('Password');
      const ready = page.getByRole('heading', { name: 'The endpoint is ready' });
      await Promise.race([form.waitFor().catch(() => undefined), ready.waitFor()]);
      if (!popup.isClosed() && (await form.isVisible().catch(() => false))) {
        await popup.getByLabel('Email address').fill(ADMIN);
        await form.fill('local-run');
        await popup.getByRole('button', { name: 'Sign in' }).click();
      }
      await ready.waitFor();
      await page.getByText('https://example.com/typed-before').first().waitFor();
    });

    it('shows nothing of one person to another who signs in instead', async () => {
      const page = await draft('https://example.com/of-the-admin');
      const other = await page.context().newPage();
      await page.context().clearCookies();
      await other.goto(`${dashboard.origin}/`);
      await signIn(other, MEMBER);
      await page.getByText(`${MEMBER} · Member`).waitFor();
      expect(await page.getByText('https://example.com/of-the-admin').count()).toBe(0);
    });
  });

export const membership = (dashboard: Dashboard) =>
  describe('a member', () => {
    it.each(['/', '/endpoints', '/deliveries', '/sources', '/usage', '/settings', '/sandbox', '/api-keys'])(
      'sees %s, and finds nothing there that changes anything',
      async (path) => {
        const page = await dashboard.signedIn(MEMBER, path);
        await page.locator('main h1').waitFor();
        await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
        // The sandbox's page also puts programs together, which changes nothing.
        for (const name of [
          /^Add (?!an answer$)/,
          /^(Register|Issue|Make|Check now|Change)/,
          /^Create/,
          /^Delete/,
          /^Revoke/,
          /^Reset/,
          /^Send/,
          /^Save/,
        ])
          expect(await page.getByRole('main').getByRole('button', { name }).count(), String(name)).toBe(0);
      },
    );

    it('is refused by the service, too', async () => {
      const page = await dashboard.signedIn(MEMBER);
      const status = await page.evaluate(async () => {
        const response = await fetch('/api/settings/api-keys', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'Mine', scopes: ['write:webhooks'] }),
        });
        return response.status;
      });
      expect(status).toBe(403);
    });
  });
