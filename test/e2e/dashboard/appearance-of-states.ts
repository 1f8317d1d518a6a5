import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ADMIN, type Dashboard } from '../dashboard-fixture.ts';
import { faultsOf } from './faults.ts';
import { EXAMINED_WINDOWS, go, LOOKING, look, shown } from './pictures.ts';
import { aConversation, aDisabledReceiver, aReceiver, WELL } from './receiving.ts';

export const LOCALES = [
  { locale: 'en', prefix: '' },
  { locale: 'de', prefix: 'german-' },
] as const;

/** What the service says when a dependency is down. */
const UNAVAILABLE = {
  status: 503,
  headers: { 'retry-after': '1' },
  json: {
    success: false,
    error: {
      type: 'SERVICE_UNAVAILABLE',
      message: 'The service is busy. Try again shortly.',
      requestId: '6f1f5c0e-7a5b-4f6e-9d57-0d9c0a4f7a11',
    },
  },
};

/** Checks a state of a page in every window, and goes back to the first of them. */
async function lookAt(page: Page, called: string, fullPage = true): Promise<void> {
  await look(page, called, fullPage, EXAMINED_WINDOWS);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
}

const button = (page: Page, name: RegExp) => page.getByRole('button', { name }).last();

/** States of pages that come about only when something happens. */
export const appearanceOfStates = (dashboard: Dashboard) =>
  describe('a state of a page is accessible and fits its window', () => {
    it.each(LOCALES)('the steps of a recovery, in $locale', LOOKING, async ({ locale, prefix }) => {
      const receiver = await aDisabledReceiver(dashboard);
      const { api } = dashboard.service;
      onTestFinished(async () => {
        for (const { id, url } of await api.all('/api/v1/webhooks'))
          if (url === receiver.url) await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
      });
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${receiver.id}/recover`, { locale });
      await shown(page);
      await button(page, /^(Change the settings|Einstellungen ändern)/).click();
      await page.getByRole('dialog').waitFor();
      await lookAt(page, `${prefix}dialog-recover-change`, false);
      await button(page, /^(Cancel|Abbrechen)$/).click();
      await button(page, /^(Register again|Erneut registrieren)$/).click();
      await page.getByText(/^whsec_/).waitFor();
      await lookAt(page, `${prefix}dialog-recover-registered`, false);
      await page.getByText(/^(I have stored it|Ich habe es an)/).click();
      await button(page, /^(Done|Fertig)$/).click();
      // Its test has failed.
      await page.getByText(/^(Nothing was resent|Nichts wurde erneut gesendet)/).waitFor();
      receiver.become(WELL);
      await lookAt(page, `${prefix}recover-resend`);
      await button(page, /^(Send a test event|Testereignis senden)$/).click();
      const resend = /^(Resend \d+ events|\d+ Ereignisse erneut senden)$/;
      await button(page, resend).waitFor();
      await lookAt(page, `${prefix}recover-counted`);
      await button(page, resend).click();
      const remove = /^(Delete the old endpoint|Alten Endpunkt löschen)$/;
      await button(page, remove).waitFor();
      await lookAt(page, `${prefix}recover-delete`);
      await button(page, remove).click();
      await page.getByRole('alertdialog').waitFor();
      await lookAt(page, `${prefix}dialog-recover-delete`, false);
      await button(page, remove).click();
      await page.getByText(/^(Recovered|Wiederhergestellt)$/).waitFor();
      await lookAt(page, `${prefix}recover-done`);
    });

    it.each(LOCALES)('a filter, what it left out, and a pause, in $locale', LOOKING, async (given) => {
      const { locale, prefix } = given;
      const { api, ended } = dashboard.service;
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await api.register(receiver.url, ['conversation.created', 'message.received']);
      onTestFinished(async () => {
        await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
      });
      const conversation = await aConversation(dashboard);
      await ended(id, 2);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`, { locale });
      await button(page, /^(Edit|Bearbeiten)$/).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: /^(Channels|Kanäle)/ }).fill('web\nshop');
      await dialog.getByText('agent', { exact: true }).click();
      await dialog.getByRole('list', { name: /^(Examples|Beispiele)/ }).scrollIntoViewIfNeeded();
      await lookAt(page, `${prefix}dialog-filter`, false);
      await button(page, /^(Save|Speichern)$/).click();
      await dialog.waitFor({ state: 'detached' });
      await api.post(`/api/v1/conversations/${conversation.id}/messages`, { role: 'user', content: 'Hi' });
      const { body } = await api.get('/api/v1/events?limit=1&type=message.received');
      await go(page, `/events/${[...(body.data ?? [])][0]?.id}`);
      await page.getByRole('heading', { name: /^(Not sent to|Nicht gesendet an)$/ }).waitFor();
      await lookAt(page, `${prefix}event-not-sent`);

      await go(page, `/endpoints/${id}`);
      await button(page, /^(Pause|Pausieren)$/).click();
      await lookAt(page, `${prefix}dialog-pause`, false);
      await button(page, /^(Pause|Pausieren)$/).click();
      await button(page, /^(Resume|Fortsetzen)$/).waitFor();
      await lookAt(page, `${prefix}endpoint-paused`);
      await button(page, /^(Resume|Fortsetzen)$/).click();
      await page.getByRole('progressbar').waitFor();
      await lookAt(page, `${prefix}endpoint-resumed`);
    });

    it('is not so when it has faults that can be planted', async () => {
      const page = await (await dashboard.context()).newPage();
      await page.setContent(`
        <style>p { margin: 0 }</style>
        <p>Wird geladen. Was sich geändert hat: nichts.</p>
        <p>Try again shortly, the service is busy.</p>
        <p>Wegen max_attempts beendet</p>
        <div style="width: 40px"><p style="white-space: nowrap">Dieser Text ist breiter</p></div>
        <div style="height: 10px; overflow: hidden"><p>Abgeschnitten</p></div>
        <div style="height: 0"><p>Unten</p></div><p>Darüber</p>
        <div style="display: flex; align-items: start">
          <button style="height: 20px">Flach</button><button style="height: 40px">Hoch</button>
        </div>`);
      expect(await faultsOf(page, true)).toEqual([
        '"Try again shortly, the service is busy." is English',
        '"Wegen max_attempts beendet" has a name of the code',
        '"Dieser Text ist breiter" is wider than its box',
        '"Abgeschnitten" is cut',
        '"Unten" is over "Darüber"',
        '"Flach" is not as high as "Hoch"',
      ]);
    });

    it.each(LOCALES)('the events of a conversation, in $locale', LOOKING, async ({ locale, prefix }) => {
      const { api } = dashboard.service;
      const receiver = await aReceiver(dashboard, WELL);
      const { id: webhookId } = await api.register(receiver.url, [
        'conversation.created',
        'message.received',
      ]);
      onTestFinished(async () => {
        await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${webhookId}` });
      });
      const { id } = await aConversation(dashboard);
      const [delivery] = await dashboard.service.ended(webhookId, 2);
      const page = await dashboard.signedIn(ADMIN, `/events?conversation=${id}`, { locale });
      await page.getByText(/^(All events of the conversation|Alle Ereignisse der Konversation)/).waitFor();
      await lookAt(page, `${prefix}conversation`);
      await go(page, `/events/${delivery?.eventId}?conversation=${id}`);
      await lookAt(page, `${prefix}conversation-event`);
      await go(page, `/events?conversation=cnv_${'0'.repeat(32)}`);
      await page.getByText(/^(No events|Keine Ereignisse)$/).waitFor();
      await lookAt(page, `${prefix}conversation-without-events`);
    });

    it.each(LOCALES)(
      'the opened entries of the audit log, in $locale',
      LOOKING,
      async ({ locale, prefix }) => {
        const { api } = dashboard.service;
        const { id } = await api.register(`https://example.com/${crypto.randomUUID()}`, ['ticket.created']);
        onTestFinished(async () => {
          await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
        });
        await api.call({
          method: 'PATCH',
          path: `/api/v1/webhooks/${id}`,
          body: { description: 'the shop', events: ['ticket.created', 'handoff.requested'], maxPerSecond: 7 },
        });
        const page = await dashboard.signedIn(ADMIN, '/audit-log', { locale });
        await shown(page);
        const opened = await page.evaluate<number>(`(() => {
        const known = new Set();
        for (const each of document.querySelectorAll('main details')) {
          const action = each.querySelector('summary > span').textContent;
          if (!known.has(action)) each.open = true;
          known.add(action);
        }
        return known.size;
      })()`);
        if (opened < 2) throw new Error(`the audit log has ${opened} actions`);
        await lookAt(page, `${prefix}audit-log-opened`);
      },
    );

    it.each(LOCALES)('what could not be loaded, in $locale', LOOKING, async ({ locale, prefix }) => {
      const listed = await dashboard.signedIn(ADMIN, '/nothing-here', { locale });
      const paths = await listed.evaluate<string[]>(
        "[...document.querySelectorAll('nav#pages a[href^=\"/\"]')].map((place) => place.getAttribute('href'))",
      );
      for (const path of paths.filter((each) => !each.startsWith('/api/'))) {
        const page = await dashboard.signedIn(ADMIN, '/nothing-here', { locale });
        await page.route(/\/api\/(settings|v1)\//, (route) => route.fulfill(UNAVAILABLE));
        await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
        await page.getByRole('alert').getByRole('button').first().waitFor();
        await shown(page);
        await lookAt(page, `${prefix}failed${path.replaceAll('/', '-')}`);
        await page.close();
      }
    });

    it.each(LOCALES)('what cannot be reached, in $locale', LOOKING, async ({ locale, prefix }) => {
      const page = await dashboard.signedIn(ADMIN, '/nothing-here', { locale });
      await page.route(/\/api\/(settings|v1)\//, (route) => route.abort());
      await page.evaluate("history.pushState(null, '', '/endpoints')");
      await page.getByRole('alert').getByRole('button').first().waitFor();
      await lookAt(page, `${prefix}unreachable-endpoints`);
    });
  });
