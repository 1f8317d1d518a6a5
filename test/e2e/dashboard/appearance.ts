import { describe, expect, it } from 'vitest';
import { ADMIN, type Dashboard, MEMBER, signIn } from '../dashboard-fixture.ts';
import { appearanceOfStates } from './appearance-of-states.ts';
import {
  DIALOG_WINDOWS,
  GERMAN_WINDOWS,
  go,
  LOOKING,
  look,
  SMALL_WINDOWS,
  shown,
  WINDOWS,
} from './pictures.ts';
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
        ['overview', 'events', 'endpoints', 'deliveries', 'failures', 'event-types', 'sources'],
        '/sandbox',
      ),
      ['not-found', '/nothing-here'],
    ],
  };
}

export const appearance = (dashboard: Dashboard) =>
  describe('every page', () => {
    appearanceOfStates(dashboard);

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

    it.each([
      { locale: 'en', prefix: '', ended: 'Your session has ended' },
      { locale: 'de', prefix: 'german-', ended: 'Ihre Sitzung ist abgelaufen' },
    ])(
      'is accessible and fits its window: sign-in, and the end of a session, in $locale',
      LOOKING,
      async ({ locale, prefix, ended }) => {
        const windows = locale === 'en' ? WINDOWS : GERMAN_WINDOWS;
        const outside = await (await dashboard.context({ locale })).newPage();
        await outside.goto(`${dashboard.origin}/`);
        await outside.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).waitFor();
        await look(outside, `${prefix}sign-in`, true, windows);
        await signIn(outside, ADMIN);
        await shown(outside);
        await outside.context().clearCookies();
        await outside
          .locator('nav#pages')
          .getByText(/^(Usage|Verbrauch)$/)
          .click();
        await outside.getByRole('heading', { name: ended }).waitFor();
        await look(outside, `${prefix}session-ended`, false, windows);
      },
    );

    it('is accessible and fits its window: as a member, and in German', LOOKING, async () => {
      for (const name of ['api-keys', 'audit-log']) {
        const member = await dashboard.signedIn(MEMBER, `/${name}`);
        await shown(member);
        await look(member, `member-${name}`);
        const german = await dashboard.signedIn(MEMBER, `/${name}`, { locale: 'de' });
        await shown(german);
        await look(german, `german-member-${name}`, true, GERMAN_WINDOWS);
      }
      const page = await dashboard.signedIn(ADMIN, '/', { locale: 'de-DE' });
      await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
      expect(await page.evaluate('document.documentElement.lang')).toBe('de');
      await shown(page);
    });

    it.each(['en', 'de'] as const)('has accessible dialogs, in %s', LOOKING, async (locale) => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, '/endpoints', { locale });
      for (const { called, path, [locale]: button } of dialogsOf(id)) {
        await go(page, path);
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.locator('[role=dialog], [role=alertdialog]').waitFor();
        const windows = called === 'register' ? WINDOWS : DIALOG_WINDOWS;
        await look(page, `${locale === 'en' ? '' : 'german-'}dialog-${called}`, false, windows);
        await page.setViewportSize({ width: 1280, height: 900 });
        // Escape closes it, and focus returns to where it was.
        await page.keyboard.press('Escape');
        await page.locator('[role=dialog], [role=alertdialog]').waitFor({ state: 'detached' });
        await page.locator('button:focus').waitFor();
        expect(await page.evaluate('document.activeElement.textContent')).toBe(button);
      }
    });

    it('shows its search, and on a small screen its menu and its filters', LOOKING, async () => {
      for (const [locale, prefix] of [
        ['en', ''],
        ['de', 'german-'],
      ] as const) {
        const page = await dashboard.signedIn(ADMIN, '/events', { locale });
        await shown(page);
        await page.keyboard.press('Control+k');
        await page.locator('input[role=combobox]').fill('e');
        await page.locator('[role=listbox] [role=option]').first().waitFor();
        await look(page, `${prefix}dialog-search`, false, DIALOG_WINDOWS);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await page.getByRole('button', { name: /^Filter/ }).click();
        await page.getByRole('dialog').waitFor();
        await look(page, `${prefix}dialog-filters`, false, SMALL_WINDOWS);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: /^Men/ }).click();
        await look(page, `${prefix}menu`, false, SMALL_WINDOWS);
      }
    });

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
