import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, type Dashboard, MEMBER, signIn } from '../a-dashboard.ts';
import { expectAccessible, expectToFit } from '../browser.ts';
import { aDisabledReceiver, aReceiverOwed, WELL } from './receiving.ts';

/** Screenshots of every page, for review. */
const PICTURES = join(import.meta.dirname, '../screenshots');

/**
 * From the smallest phone to the largest screen, which has one theme: colours do not depend on the width.
 * Axe, which takes most of the time, runs for each theme and for both layouts.
 */
const WINDOWS = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 900, isExamined: true },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 900, isExamined: false },
  { name: 'medium', colorScheme: 'light', width: 768, height: 1024, isExamined: false },
  { name: 'small-light', colorScheme: 'light', width: 360, height: 740, isExamined: false },
  { name: 'small-dark', colorScheme: 'dark', width: 360, height: 740, isExamined: true },
  { name: 'large', colorScheme: 'light', width: 3840, height: 2160, isExamined: false },
] as const;
type Window = (typeof WINDOWS)[number];
/** For another language: its words are longer, and everything else is the same. */
const GERMAN_WINDOWS = WINDOWS.filter(({ name }) => ['dark', 'medium', 'small-light'].includes(name));
const LOOKING = { timeout: 240_000 };

/**
 * Checks a page in every window: takes a screenshot, and checks its width and accessibility.
 * @param fullPage whether the screenshot shows all of it; a dialog covers only the visible part
 */
async function look(
  page: Page,
  called: string,
  fullPage = true,
  windows: readonly Window[] = WINDOWS,
): Promise<void> {
  for (const { name, colorScheme, width, height, isExamined } of windows) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await page.screenshot({ path: join(PICTURES, `${called}-${name}.png`), fullPage });
    if (isExamined) await expectAccessible(page);
    await expectToFit(page);
  }
}

/** Waits until a page has loaded its content. */
async function shown(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.getByRole('status', { name: /^(Loading|Wird geladen)$/ }).waitFor({ state: 'detached' });
}

/** Navigates to a path as a link of the application does. */
async function go(page: Page, path: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await shown(page);
}

const GERMAN_PAGES = [
  '',
  'events',
  'endpoints',
  'deliveries',
  'failures',
  'event-types',
  'event-types/message-received',
  'sources',
  'api-keys',
  'audit-log',
  'sandbox',
  'usage',
  'settings',
];

export const appearance = (dashboard: Dashboard) =>
  describe('every page', () => {
    beforeAll(() => {
      mkdirSync(PICTURES, { recursive: true });
    });

    it('is accessible and fits its window: webhooks', LOOKING, async () => {
      // Its URL is long.
      const { id } = await aReceiverOwed(dashboard, { status: 503, body: 'down for maintenance' }, 1);
      const page = await dashboard.signedIn(ADMIN);
      await shown(page);
      await look(page, 'overview');
      await go(page, '/endpoints');
      await look(page, 'endpoints');
      await go(page, `/endpoints/${id}`);
      await look(page, 'endpoint');
      await go(page, `/deliveries/${id}`);
      const first = page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first();
      await first.waitFor();
      await look(page, 'deliveries');
      await page.setViewportSize({ width: 1280, height: 900 });
      await first.click();
      await page.getByText('Attempt 8').first().waitFor();
      await look(page, 'delivery');
      await go(page, '/events');
      const newest = page.getByRole('list', { name: 'Events', exact: true }).getByRole('link').first();
      await newest.waitFor();
      await look(page, 'events');
      await page.setViewportSize({ width: 1280, height: 900 });
      await newest.click();
      await page.getByText('Attempt 8').first().waitFor();
      await look(page, 'event');
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.getByRole('tab', { name: 'Payload' }).click();
      await look(page, 'event-payload');
      await go(page, '/failures');
      await look(page, 'failures');
    });

    it('is accessible and fits its window: an endpoint that was disabled', LOOKING, async () => {
      const { id } = await aDisabledReceiver(dashboard);
      const page = await dashboard.signedIn(ADMIN);
      await shown(page);
      await look(page, 'disabled-overview');
      await go(page, `/endpoints/${id}`);
      await look(page, 'disabled-endpoint');
      await go(page, `/endpoints/${id}/recover`);
      await look(page, 'recover');
      const german = await dashboard.signedIn(ADMIN, `/endpoints/${id}/recover`, { locale: 'de-DE' });
      await shown(german);
      await look(german, 'german-recover', true, GERMAN_WINDOWS);
    });

    it('is accessible and fits its window: every page in German', LOOKING, async () => {
      const page = await dashboard.signedIn(ADMIN, '/', { locale: 'de-DE' });
      await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
      for (const called of GERMAN_PAGES) {
        await go(page, `/${called}`);
        await look(page, `german-${called.replace('/', '-') || 'overview'}`, true, GERMAN_WINDOWS);
      }
    });

    it('is accessible and fits its window: organization', LOOKING, async () => {
      const { body } = await dashboard.service.api.post('/api/v1/knowledge/sources', {
        kind: 'url',
        url: 'https://example.com/handbook/returns-and-refunds.html',
      });
      const page = await dashboard.signedIn(ADMIN, '/sources');
      await shown(page);
      await look(page, 'sources');
      await go(page, `/sources/${body.data?.id}`);
      await look(page, 'source');
      for (const called of ['api-keys', 'audit-log', 'event-types', 'sandbox', 'usage', 'settings']) {
        await go(page, `/${called}`);
        await look(page, called);
      }
      await go(page, '/event-types/message-received');
      await look(page, 'event-type');
    });

    it('is accessible and fits its window: sandbox, or an unknown path', LOOKING, async () => {
      const page = await dashboard.signedIn(ADMIN, '/sandbox/overview');
      await shown(page);
      await look(page, 'sandbox-overview');
      for (const called of ['events', 'endpoints', 'deliveries', 'sources']) {
        await go(page, `/sandbox/${called}`);
        await look(page, `sandbox-${called}`);
      }
      await go(page, '/nothing-here');
      await look(page, 'not-found');
    });

    it('is accessible and fits its window: sign-in, and the end of a session', LOOKING, async () => {
      const outside = await (await dashboard.context()).newPage();
      await outside.goto(`${dashboard.origin}/`);
      await outside.getByRole('button', { name: 'Sign in' }).waitFor();
      await look(outside, 'sign-in');
      await signIn(outside, ADMIN);
      await shown(outside);
      await outside.context().clearCookies();
      await outside.getByRole('navigation', { name: 'Pages' }).getByText('Usage').click();
      await outside.getByRole('heading', { name: 'Your session has ended' }).waitFor();
      await look(outside, 'session-ended', false);
    });

    it('is accessible and fits its window: as a member, and in German', LOOKING, async () => {
      const member = await dashboard.signedIn(MEMBER, '/api-keys');
      await shown(member);
      await look(member, 'member-api-keys');
      const page = await dashboard.signedIn(ADMIN, '/', { locale: 'de-DE' });
      await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
      expect(await page.evaluate('document.documentElement.lang')).toBe('de');
      await shown(page);
    });

    it('has accessible dialogs', LOOKING, async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      const open = async (path: string, button: string, called: string) => {
        await go(page, path);
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.locator('[role=dialog], [role=alertdialog]').waitFor();
        if (called === 'dialog-register') await look(page, called, false);
        else {
          await page.screenshot({ path: join(PICTURES, `${called}-light.png`) });
          await expectAccessible(page);
        }
        // Escape closes it, and focus returns to where it was.
        await page.keyboard.press('Escape');
        await page.locator('[role=dialog], [role=alertdialog]').waitFor({ state: 'detached' });
        await page.locator('button:focus').waitFor();
        expect(await page.evaluate('document.activeElement.textContent')).toBe(button);
      };
      await open('/endpoints', 'Add an endpoint', 'dialog-register');
      await open(`/endpoints/${id}`, 'Edit', 'dialog-change');
      await open(`/endpoints/${id}`, 'Delete', 'dialog-delete');
      await open(`/deliveries/${id}`, 'Resend failed', 'dialog-send-again');
      await open('/api-keys', 'Create a key', 'dialog-create-key');
      await open('/sandbox', 'Create another key', 'dialog-issue-key');
      await open('/sandbox', 'Reset', 'dialog-reset');
      await open('/sources', 'Add a source', 'dialog-add-source');
    });

    it('keeps the chosen theme', async () => {
      const page = await dashboard.signedIn(ADMIN, '/settings', { colorScheme: 'light' });
      await page.getByLabel('Appearance').selectOption('dark');
      await page.reload();
      const background = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme');
      expect(await background()).toBe('dark');
    });

    it('has the user and the sign-out in its menu where the width is small', async () => {
      const page = await dashboard.signedIn(ADMIN, '/', { viewport: { width: 360, height: 740 } });
      const head = await page.getByRole('banner').boundingBox();
      expect(head?.height).toBeLessThanOrEqual(64);
      expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByText(`${ADMIN} · Admin`).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
    });

    it('loads at most 200 KiB of compressed script at first', async () => {
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
