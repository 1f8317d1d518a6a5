import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, type Dashboard, MEMBER, signIn } from '../a-dashboard.ts';
import { expectAccessible, expectToFit } from '../browser.ts';
import { aDisabledReceiver, aReceiverOwed, WELL } from './receiving.ts';

/** Screenshots of every page, for review. */
const PICTURES = join(import.meta.dirname, '../screenshots');

/** Both layouts in both themes, the smallest phone, and the largest screen. Axe runs once for each theme. */
const WINDOWS = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 900, isExamined: true },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 900, isExamined: false },
  { name: 'medium-light', colorScheme: 'light', width: 768, height: 1024, isExamined: false },
  { name: 'medium-dark', colorScheme: 'dark', width: 768, height: 1024, isExamined: false },
  { name: 'small-light', colorScheme: 'light', width: 390, height: 844, isExamined: false },
  { name: 'small-dark', colorScheme: 'dark', width: 390, height: 844, isExamined: true },
  { name: 'smallest', colorScheme: 'light', width: 360, height: 740, isExamined: false },
  { name: 'large', colorScheme: 'light', width: 3840, height: 2160, isExamined: false },
] as const;
type Window = Omit<(typeof WINDOWS)[number], 'isExamined'> & { isExamined: boolean };
/** For another language: its words are longer, and everything else is the same. */
const GERMAN_WINDOWS: readonly Window[] = WINDOWS.map((window) => ({ ...window, isExamined: false }));
const LOOKING = { timeout: 400_000 };

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

/** Pages with their names, in an organization with something of everything. */
async function aScene(
  dashboard: Dashboard,
): Promise<Record<'webhooks' | 'organization', [string, string][]>> {
  const { api } = dashboard.service;
  await aReceiverOwed(dashboard, WELL, 3);
  const disabled = await aDisabledReceiver(dashboard);
  const failing = await aReceiverOwed(dashboard, { status: 503, body: 'down for maintenance' }, 1);
  const [delivery] = await dashboard.service.ended(failing.id, 1);
  const source = await api.post('/api/v1/knowledge/sources', {
    kind: 'url',
    url: 'https://example.com/handbook/returns-and-refunds.html',
  });
  const event = `/events/${delivery?.eventId}`;
  const named = (names: string[], before = ''): [string, string][] =>
    names.map((name) => [`${before.replaceAll('/', '')}${before && '-'}${name}`, `${before}/${name}`]);
  return {
    webhooks: [
      ['overview', '/'],
      ...named(['events', 'endpoints', 'deliveries', 'failures']),
      ['event', event],
      ['event-payload', `${event}?show=payload`],
      ['endpoint', `/endpoints/${failing.id}`],
      ['failing-deliveries', `/deliveries/${failing.id}`],
      ['delivery', `/deliveries/${failing.id}/${delivery?.id}`],
      ['disabled-endpoint', `/endpoints/${disabled.id}`],
      ['recover', `/endpoints/${disabled.id}/recover`],
    ],
    organization: [
      ...named(['event-types', 'sources', 'api-keys', 'audit-log', 'sandbox', 'usage', 'settings']),
      ['event-type', '/event-types/message-received'],
      ['source', `/sources/${source.body.data?.id}`],
      ...named(['overview', 'events', 'endpoints', 'deliveries', 'failures', 'sources'], '/sandbox'),
      ['not-found', '/nothing-here'],
    ],
  };
}

export const appearance = (dashboard: Dashboard) =>
  describe('every page', () => {
    beforeAll(() => {
      mkdirSync(PICTURES, { recursive: true });
    });

    it.each([
      { part: 'webhooks', locale: 'en' },
      { part: 'webhooks', locale: 'de' },
      { part: 'organization', locale: 'en' },
      { part: 'organization', locale: 'de' },
    ] as const)('is accessible and fits its window: $part, in $locale', LOOKING, async ({ part, locale }) => {
      const scene = await aScene(dashboard);
      const page = await dashboard.signedIn(ADMIN, '/', { locale });
      await shown(page);
      for (const [called, path] of scene[part]) {
        await go(page, path);
        if (locale === 'en') await look(page, called);
        else await look(page, `german-${called}`, true, GERMAN_WINDOWS);
      }
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
