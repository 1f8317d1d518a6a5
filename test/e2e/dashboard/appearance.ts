import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ADMIN, type Dashboard, signIn } from '../a-dashboard.ts';
import { expectAccessible, expectToFit } from '../browser.ts';
import { aReceiverOwed, WELL } from './receiving.ts';

/** Pictures of every page, for people to look at. */
const PICTURES = join(import.meta.dirname, '../screenshots');

const PAGES = {
  overview: '/',
  endpoints: '/endpoints',
  'api-keys': '/api-keys',
  sandbox: '/sandbox',
  sources: '/sources',
  usage: '/usage',
  settings: '/settings',
  'sandbox-overview': '/sandbox/overview',
  'sandbox-endpoints': '/sandbox/endpoints',
  'not-found': '/nothing-here',
} as const;

/** From the smallest telephone to the largest screen. Axe, which takes most of the time, looks at each theme and at both arrangements of a page. */
const WINDOWS = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 900, isExamined: true },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 900, isExamined: false },
  { name: 'small-light', colorScheme: 'light', width: 360, height: 740, isExamined: false },
  { name: 'small-dark', colorScheme: 'dark', width: 360, height: 740, isExamined: true },
  { name: 'large', colorScheme: 'light', width: 3840, height: 2160, isExamined: false },
] as const;

export const appearance = (dashboard: Dashboard) =>
  describe('every page', () => {
    /** An endpoint whose deliveries fail; eight attempts take their time, so there is one for all. */
    let failing: Promise<{ id: string }> | undefined;
    async function anEndpointThatFails() {
      const { api, ended, subscribe } = dashboard.service;
      const endpoint = await subscribe(() => ({ status: 503, body: 'down for maintenance' }));
      await api.post('/api/v1/tickets', {});
      await ended(endpoint.id, 1);
      return endpoint;
    }

    it.each(WINDOWS)(
      'is accessible and fits its window: $name',
      async ({ name, colorScheme, width, height, isExamined }) => {
        mkdirSync(PICTURES, { recursive: true });
        failing ??= anEndpointThatFails();
        const { id } = await failing;
        const page = await dashboard.signedIn(ADMIN, '/', { colorScheme, viewport: { width, height } });
        const look = async (called: string) => {
          await page.locator('main h1').first().waitFor();
          await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
          await page.screenshot({ path: join(PICTURES, `${called}-${name}.png`) });
          if (isExamined) await expectAccessible(page);
          await expectToFit(page);
        };
        for (const [called, path] of Object.entries(PAGES)) {
          await page.goto(`${dashboard.origin}${path}`);
          await look(called);
        }
        await page.goto(`${dashboard.origin}/endpoints/${id}`);
        await look('endpoint');
        await page.goto(`${dashboard.origin}/deliveries/${id}`);
        await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().waitFor();
        await look('deliveries');
        await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().click();
        await page.getByText('Attempt 8').first().waitFor();
        await look('delivery');
      },
    );

    it('has dialogs that are accessible as well', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      const look = async (path: string, button: string) => {
        await page.goto(`${dashboard.origin}${path}`);
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.locator('[role=dialog], [role=alertdialog]').waitFor();
        await expectAccessible(page);
        // Escape closes it, and the focus is back where it was.
        await page.keyboard.press('Escape');
        await page.locator('[role=dialog], [role=alertdialog]').waitFor({ state: 'detached' });
        await page.locator('button:focus').waitFor();
        expect(await page.evaluate('document.activeElement.textContent')).toBe(button);
      };
      await look('/endpoints', 'Add an endpoint');
      await look(`/endpoints/${id}`, 'Change');
      await look(`/endpoints/${id}`, 'Delete');
      await look(`/deliveries/${id}`, 'Send failed ones again');
      await look('/api-keys', 'Create a key');
      await look('/sandbox', 'Issue another key');
      await look('/sandbox', 'Reset');
      await look('/sources', 'Add a source');
    });

    it('speaks German where the browser does', async () => {
      const page = await dashboard.signedIn(ADMIN, '/', { locale: 'de-DE' });
      await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
      expect(await page.evaluate('document.documentElement.lang')).toBe('de');
      await expectAccessible(page);
    });

    it('keeps the theme that was chosen', async () => {
      const page = await dashboard.signedIn(ADMIN, '/settings', { colorScheme: 'light' });
      await page.getByLabel('Appearance').selectOption('dark');
      await page.reload();
      const background = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme');
      expect(await background()).toBe('dark');
    });

    it('begins with at most 200 KiB of compressed script', async () => {
      const context = await dashboard.context();
      const page = await context.newPage();
      const sizes: Promise<number>[] = [];
      page.on('requestfinished', (request) => {
        if (request.resourceType() === 'script')
          sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      });
      await page.goto(`${dashboard.origin}/`);
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      await signIn(page, ADMIN);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(bytes).toBeGreaterThan(10_000);
      expect(bytes).toBeLessThanOrEqual(200 * 1024);
    });
  });
