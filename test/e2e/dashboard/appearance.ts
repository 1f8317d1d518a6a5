import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ADMIN, type Dashboard, MEMBER, signIn } from '../dashboard-fixture.ts';
import { appearanceOfStates, LOCALES } from './appearance-of-states.ts';
import { EXAMINED_WINDOWS, go, LOOKING, look, SMALL_WINDOWS, shown } from './pictures.ts';
import { aDisabledReceiver, aReceiverOwed, WELL } from './receiving.ts';

/** Buttons that open a dialog, in both languages, on pages of an endpoint and others. */
const dialogsOf = (endpointId: string) => [
  { called: 'register', path: '/endpoints', en: 'Add an endpoint', de: 'Endpunkt hinzufügen' },
  { called: 'change', path: `/endpoints/${endpointId}`, en: 'Edit', de: 'Bearbeiten' },
  { called: 'replace', path: `/endpoints/${endpointId}`, en: 'Replace', de: 'Ersetzen' },
  { called: 'delete', path: `/endpoints/${endpointId}`, en: 'Delete', de: 'Löschen' },
  {
    called: 'send-again',
    path: `/deliveries/${endpointId}`,
    en: 'Resend deliveries',
    de: 'Zustellungen erneut senden',
  },
  { called: 'create-key', path: '/api-keys', en: 'Create a key', de: 'Schlüssel erstellen' },
  { called: 'issue-key', path: '/sandbox', en: 'Create another key', de: 'Weiteren Schlüssel erstellen' },
  { called: 'reset', path: '/sandbox', en: 'Reset', de: 'Zurücksetzen' },
  {
    called: 'send-example',
    path: '/event-types/ticket-created',
    en: 'Send an example',
    de: 'Beispiel senden',
  },
  { called: 'add-source', path: '/sources', en: 'Add a source', de: 'Quelle hinzufügen' },
];

/** Pages with their names, in an organization with something of everything. */
async function aScene(
  dashboard: Dashboard,
): Promise<Record<'webhooks' | 'organization', [string, string][]>> {
  const { api } = dashboard.service;
  await aReceiverOwed(dashboard, WELL, 3);
  const disabled = await aDisabledReceiver(dashboard);
  const failing = await aReceiverOwed(dashboard, { status: 503, body: 'down for maintenance' }, 1);
  const [delivery] = await dashboard.service.ended(failing.id, 1);
  const channel = await api.post('/api/v1/channels', {
    ...{ kind: 'http', name: 'SMS gateway', url: 'https://sms.example.com/out' },
  });
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
      ['channels', '/channels'],
      ['channel', `/channels/${channel.body.data?.id}`],
      ['event-type', '/event-types/message-received'],
      ['source', `/sources/${source.body.data?.id}`],
      ['source-content', `/sources/${source.body.data?.id}/content`],
      ...named(
        ['overview', 'events', 'endpoints', 'deliveries', 'failures', 'event-types', 'channels', 'sources'],
        '/sandbox',
      ),
      ['not-found', '/nothing-here'],
    ],
  };
}

/** Source of the table of all pages. */
const PLACES = readFileSync(join(import.meta.dirname, '../../../dashboard/src/app/places.ts'), 'utf8');
const PARTS = ['webhooks', 'organization'] as const;

/** Hides the first steps from the user alone. */
const HIDES = 'Hide';

/** Names of the buttons of a page, apart from times, which are buttons too and differ between two visits. */
async function buttonsAt(page: Page, path: string): Promise<string[]> {
  await go(page, path);
  const buttons = page.getByRole('main').getByRole('button');
  const names = await buttons.filter({ hasNot: page.locator('time') }).allInnerTexts();
  return [...new Set(names)].filter((name) => name !== '' && name !== HIDES);
}

export const appearance = (dashboard: Dashboard) =>
  describe('every page', () => {
    appearanceOfStates(dashboard);

    it.each(
      [ADMIN, MEMBER].flatMap((email) =>
        PARTS.flatMap((part) => LOCALES.map(({ locale, prefix }) => ({ email, part, locale, prefix }))),
      ),
    )('is accessible and fits its window: $part, as $email, in $locale', LOOKING, async (view) => {
      const { email, part, locale, prefix } = view;
      const scene = await aScene(dashboard);
      const page = await dashboard.signedIn(email, '/', { locale });
      await shown(page);
      for (const [called, path] of scene[part]) {
        await go(page, path);
        if (email === ADMIN) await look(page, `${prefix}${called}`);
        else await look(page, `${prefix}member-${called}`, true, EXAMINED_WINDOWS);
      }
    });

    it('has something of every page of the application', async () => {
      const scene = await aScene(dashboard);
      const paths = Object.values(scene).flatMap((pages) =>
        pages.map(([, path]) => path.split('?')[0] ?? ''),
      );
      const isSeen = (route: string) => {
        const parts = route.replaceAll(/\/:\w+\?/g, '(/[^/]+)?').replaceAll(/:\w+/g, '[^/]+');
        return paths.some((path) => new RegExp(`^${parts}$`).test(path));
      };
      const routes = [...PLACES.matchAll(/route: '([^']+)'/g)].map(([, route = '']) => route);
      expect(routes.length).toBeGreaterThan(10);
      expect(routes.filter((route) => !isSeen(route))).toEqual([]);
    });

    it(
      'offers a member nothing that the service refuses, and says who may do the rest',
      LOOKING,
      async () => {
        const scene = await aScene(dashboard);
        const [admin, member] = [await dashboard.signedIn(ADMIN), await dashboard.signedIn(MEMBER)];
        const faults: string[] = [];
        member.on('response', (response) => {
          if (response.status() === 403) faults.push(`${response.url()} is refused at ${member.url()}`);
        });
        for (const [, path] of Object.values(scene).flat()) {
          const [ofAdmin, ofMember] = [await buttonsAt(admin, path), await buttonsAt(member, path)];
          const missing = ofAdmin.filter((name) => !ofMember.includes(name));
          const said = await member.getByRole('main').innerText();
          if (missing.length > 0 && !/\badmins?\b/i.test(said))
            faults.push(`${path} does not say who may ${missing}`);
          for (const name of ofMember) {
            await go(member, path);
            const button = member.getByRole('main').getByRole('button', { name, exact: true }).first();
            if ((await button.count()) > 0 && (await button.isEnabled())) await button.click();
            await member.keyboard.press('Escape');
          }
        }
        expect(faults).toEqual([]);
      },
    );

    it.each(LOCALES)(
      'is accessible and fits its window: sign-in, and the end of a session, in $locale',
      LOOKING,
      async ({ locale, prefix }) => {
        const outside = await (await dashboard.context({ locale })).newPage();
        await outside.goto(`${dashboard.origin}/`);
        await outside.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).waitFor();
        await look(outside, `${prefix}sign-in`);
        await signIn(outside, ADMIN);
        await shown(outside);
        await outside.context().clearCookies();
        await outside
          .locator('nav#pages')
          .getByText(/^(Usage|Verbrauch)$/)
          .click();
        await outside
          .getByRole('heading', { name: /^(Your session has ended|Ihre Sitzung ist abgelaufen)$/ })
          .waitFor();
        await look(outside, `${prefix}session-ended`, false);
      },
    );

    it.each(LOCALES)('has accessible dialogs, in $locale', LOOKING, async ({ locale, prefix }) => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, '/endpoints', { locale });
      for (const { called, path, [locale]: button } of dialogsOf(id)) {
        await go(page, path);
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.locator('[role=dialog], [role=alertdialog]').waitFor();
        await look(page, `${prefix}dialog-${called}`, false, EXAMINED_WINDOWS);
        await page.setViewportSize({ width: 1280, height: 900 });
        // Escape closes it, and focus returns to where it was.
        await page.keyboard.press('Escape');
        await page.locator('[role=dialog], [role=alertdialog]').waitFor({ state: 'detached' });
        await page.locator('button:focus').waitFor();
        expect(await page.evaluate('document.activeElement.textContent')).toBe(button);
      }
    });

    it.each(LOCALES)(
      'shows its search, and on a small screen its menu and its filters, in $locale',
      LOOKING,
      async ({ locale, prefix }) => {
        const page = await dashboard.signedIn(ADMIN, '/events', { locale });
        await shown(page);
        await page.keyboard.press('Control+k');
        await page.locator('input[role=combobox]').fill('e');
        await page.locator('[role=listbox] [role=option]').first().waitFor();
        await look(page, `${prefix}dialog-search`, false, EXAMINED_WINDOWS);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await page.getByRole('button', { name: /^Filter/ }).click();
        await page.getByRole('dialog').waitFor();
        await look(page, `${prefix}dialog-filters`, false, SMALL_WINDOWS);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: /^Men/ }).click();
        await look(page, `${prefix}menu`, false, SMALL_WINDOWS);
      },
    );

    it('changes all colors at once when the theme changes', async () => {
      const page = await dashboard.signedIn(ADMIN, '/settings', { colorScheme: 'light' });
      await shown(page);
      const [before, after] = await page.evaluate<[string[], string[]]>(`(() => {
        const colors = () =>
          [...document.querySelectorAll('html, main h1, main h2')].map((one) => getComputedStyle(one).color);
        const before = colors();
        document.documentElement.dataset.theme = 'dark';
        return [before, colors()];
      })()`);
      expect(new Set(before).size).toBe(1);
      expect(new Set(after).size).toBe(1);
      expect(after[0]).not.toBe(before[0]);
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
