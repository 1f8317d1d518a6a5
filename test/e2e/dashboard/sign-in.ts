import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ADMIN, type Dashboard, type Extent, fillIn, MEMBER, signIn } from '../dashboard-fixture.ts';

const SESSION = '__Host-session';
const RENEWAL = '__Host-renewal';

/** Waits until a page shows the user, at any width. */
const isShownTo = (page: Page, person: string) => page.getByText(person).filter({ visible: true }).waitFor();

export const signingIn = (dashboard: Dashboard, { isWhole }: Extent) =>
  describe('sign-in', () => {
    it('leads through the identity provider to the requested page, and ends here and there with the sign-out', async () => {
      const page = await dashboard.signingIn(ADMIN, '/api-keys');
      expect(new URL(page.url()).pathname).toBe('/api-keys');
      await isShownTo(page, `${ADMIN} · Admin`);

      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      const names = (await page.context().cookies(dashboard.origin)).map(({ name }) => name);
      expect(names).not.toContain(SESSION);
      expect(names).not.toContain(RENEWAL);
      await page.goto(`${dashboard.origin}/`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByLabel('Password').waitFor();
    });

    if (!isWhole) return;

    it('keeps the session where no script can read it', async () => {
      const page = await dashboard.signingIn(ADMIN);
      const cookie = (await page.context().cookies(dashboard.origin)).find(({ name }) => name === SESSION);
      expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/' });
      expect(await page.evaluate('document.cookie')).not.toContain('session');
      expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
        'eyJ',
      );
    });

    it('shows its failure, and can be retried', async () => {
      const page = await (await dashboard.context()).newPage();
      await page.goto(`${dashboard.origin}/signed-in?code=forged&state=forged`);
      await page.getByRole('alert').waitFor();
      await page.getByText('Request ID').waitFor();
      await page.getByRole('link', { name: 'Sign in again' }).click();
      await signIn(page, ADMIN);
    });

    it("shows the provider's refusal in the dashboard's words, regardless of the URL", async () => {
      const page = await (await dashboard.context()).newPage();
      const said = 'Call +1 555 0100 to unlock your account <script>window.pwned=1</script>';
      await page.goto(
        `${dashboard.origin}/signed-in?error=access_denied&error_description=${encodeURIComponent(said)}`,
      );
      await page.getByText('canceled, or your account').waitFor();
      expect(await page.locator('body').innerText()).not.toContain('555');
      expect(await page.evaluate('"pwned" in window')).toBe(false);
    });

    it('offers another account when this one has no organization', async () => {
      const page = await (await dashboard.context()).newPage();
      await page.goto(`${dashboard.origin}/`);
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      await page.route('**/api/settings/session', (route) => route.fulfill({ status: 401, json: {} }));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await fillIn(page, ADMIN);
      await page.getByText('an organization that does not exist here').waitFor();
      await page.unroute('**/api/settings/session');
      await page.getByRole('button', { name: 'Use another account' }).click();
      await signIn(page, MEMBER);
      await isShownTo(page, `${MEMBER} · Member`);
    });

    it('leaves no data of the user in other tabs once it ends in one', async () => {
      const page = await dashboard.signingIn(ADMIN, '/api-keys');
      const other = await page.context().newPage();
      await other.goto(`${dashboard.origin}/endpoints`);
      await other.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await other.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await other.locator('body').innerText()).not.toContain(ADMIN);
    });

    it('is said to continue when it could not be ended', async () => {
      const page = await dashboard.signingIn(ADMIN);
      await page.route('**/api/session', (route) => route.fulfill({ status: 503, json: {} }));
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'You are still signed in' }).waitFor();
    });
  });

export const expiring = (dashboard: Dashboard) =>
  describe('a session that ends', () => {
    /** What pages tried to add. */
    const posts = new WeakMap<Page, string[]>();
    const draft = async (url: string) => {
      const page = await dashboard.signingIn(ADMIN, '/endpoints');
      const sent: string[] = [];
      posts.set(page, sent);
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().includes('/api/settings/webhooks'))
          sent.push(request.url());
      });
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('Endpoint URL').fill(url);
      await page.getByRole('dialog').getByText('conversation.resolved', { exact: true }).click();
      return page;
    };

    /**
     * Holds a page's own requests, so that a click is the first to meet the end of the session.
     * @returns releases them
     */
    async function hold(page: Page): Promise<() => Promise<void>> {
      const held: Route[] = [];
      const pattern = '**/api/settings/**';
      const keep = (route: Route) =>
        route.request().method() === 'GET' && !route.request().url().endsWith('/session')
          ? void held.push(route)
          : route.fallback();
      await page.route(pattern, keep);
      return async () => {
        await page.unroute(pattern, keep);
        // The page may have aborted the request meanwhile.
        for (const route of held) await route.continue().catch(() => undefined);
      };
    }
    const cookies = { session: /^__Host-session$/, all: /^__Host-/ };

    /** Adds an endpoint when the session has ended, which requires another sign-in. */
    async function added(page: Page): Promise<void> {
      const release = await hold(page);
      await page.context().clearCookies({ name: cookies.all });
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
      await release();
    }

    it('is renewed silently while the provider permits it', async () => {
      const page = await draft('https://example.com/renewed');
      const release = await hold(page);
      await page.context().clearCookies({ name: cookies.session });
      const renewed = page.waitForResponse('**/api/session/renewal');
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      await renewed;
      await release();
      await page.getByRole('heading', { name: 'Endpoint added' }).waitFor();
    });

    it('loses no typed text: the page continues after the sign-in in another window', async () => {
      const page = await draft('https://example.com/typed-before');
      await added(page);
      // The provider still knows the browser, and shows no form.
      await page.getByRole('button', { name: 'Sign in in a new window' }).click();
      await page.getByRole('heading', { name: 'Endpoint added' }).waitFor();
      await page.getByText('https://example.com/typed-before').first().waitFor();
    });

    it('loses no typed text when the provider requires a password again', async () => {
      const page = await draft('https://example.com/typed-again');
      await added(page);
      await page.context().clearCookies();
      const opened = page.waitForEvent('popup');
      await page.getByRole('button', { name: 'Sign in in a new window' }).click();
      await fillIn(await opened, ADMIN);
      await page.getByRole('heading', { name: 'Endpoint added' }).waitFor();
    });

    it('leaves no data of one user to another who signs in instead, and repeats no request', async () => {
      const page = await draft('https://example.com/of-the-admin');
      await added(page);
      await page.context().clearCookies();
      const other = await page.context().newPage();
      await other.goto(`${dashboard.origin}/`);
      await signIn(other, MEMBER);
      await isShownTo(page, `${MEMBER} · Member`);
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await page.getByLabel('Endpoint URL').count()).toBe(0);
      const sent = posts.get(page) ?? [];
      expect(sent).toHaveLength(1);
    });
  });

export const membership = (dashboard: Dashboard, { isWhole }: Extent) =>
  describe('a member', () => {
    const PATHS = ['/', '/endpoints', '/events', '/sources', '/usage', '/settings', '/sandbox', '/api-keys'];
    // The sandbox page also edits programs, which changes nothing.
    const CHANGING =
      /^(Add (?!an answer$)|Register|Issue|Make|Check now|Change|Create|Delete|Revoke|Reset|Send|Save)/;

    /** Opens a page from another one: a reload for each would take most of the time. */
    async function open(page: Page, path: string): Promise<void> {
      const heading = page.locator('main h1');
      const left = await heading.innerText();
      if (new URL(page.url()).pathname === path) return;
      await page.getByRole('navigation', { name: 'Pages' }).locator(`a[href="${path}"]`).click();
      await heading.filter({ hasNotText: left }).waitFor();
    }

    /** Names of a page's buttons that change something. */
    async function changingAt(page: Page, path: string): Promise<string[]> {
      await open(page, path);
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      return page.getByRole('main').getByRole('button', { name: CHANGING }).allInnerTexts();
    }

    it('sees every page, without buttons that change anything', async () => {
      const page = await dashboard.signedIn(MEMBER);
      const cookies: [string, string[]][] = [];
      for (const path of PATHS) cookies.push([path, await changingAt(page, path)]);
      expect(cookies).toEqual(PATHS.map((path) => [path, []]));
    });

    if (!isWhole) return;

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
