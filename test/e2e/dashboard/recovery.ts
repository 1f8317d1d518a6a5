import { until } from 'aws-local/test/until.ts';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SubscribableType } from '../../../functions/events/events.ts';
import { expectAccessible } from '../browser.ts';
import { ADMIN, type Dashboard, MEMBER } from '../dashboard-fixture.ts';
import { tabTo } from './places.ts';
import { aDisabledReceiver, aReceiver, aReceiverOwed, DOWN, FAILURES_TO_DISABLE, WELL } from './receiving.ts';

/** Tests share an organization, so more may be missing than the tickets of one of them. */
const RESEND = /^Resend \d+ events$/;

/** Presses an element by keyboard alone. */
async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

/** Deletes the endpoints that a page registers for a receiver. */
function removeAfterwards({ service: { api } }: Dashboard, url: string): void {
  onTestFinished(async () => {
    const endpoints = await api.all('/api/v1/webhooks');
    for (const endpoint of endpoints.filter((each) => each.url === url))
      await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${endpoint.id}` });
  });
}

async function registerAgain(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Register again' }).click();
  const dialog = page.getByRole('dialog');
  const secret = await dialog.getByText(/^whsec_/).textContent();
  await dialog.getByText('I have stored it in a safe place').click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  return secret ?? '';
}

export const recovery = (dashboard: Dashboard) => {
  journey(dashboard);
  troubles(dashboard);
  causes(dashboard);
  forms(dashboard);
};

const journey = (dashboard: Dashboard) =>
  describe('a disabled endpoint', () => {
    it('is registered again, gets what it missed, and is deleted, by keyboard alone', async () => {
      const receiver = await aDisabledReceiver(dashboard);
      removeAfterwards(dashboard, receiver.url);
      const missed = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
      expect(missed.size).toBe(FAILURES_TO_DISABLE);
      const before = receiver.received.length;
      receiver.become(WELL);
      const page = await dashboard.signedIn(ADMIN);
      // The jobs of the disabled endpoint are read late: after the page knows the new one.
      const jobsOfNew = page.waitForRequest((request) =>
        new RegExp(`/(?!${receiver.id})[^/]+/redeliveries`).test(request.url()),
      );
      await page.route(`**/${receiver.id}/redeliveries?*`, async (route) => {
        await jobsOfNew;
        await route.continue();
      });
      await press(page, page.locator(`a[href="/endpoints/${receiver.id}/recover"]`));
      await page.getByText('the receiver answered 500').waitFor();
      // Counts lag by a few seconds.
      await page.getByText(/deliver(y|ies) failed or were skipped/).waitFor();

      await press(page, page.getByRole('button', { name: 'Register again' }));
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/^whsec_/).waitFor();
      await press(page, dialog.getByRole('checkbox'), 'Space');
      await press(page, dialog.getByRole('button', { name: 'Done' }));
      await page.locator('h2:focus', { hasText: '3. Delete the old endpoint' }).waitFor();

      await press(page, page.getByRole('button', { name: 'Delete the old endpoint' }));
      const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Delete the old endpoint' });
      await press(page, confirm);
      await confirm.waitFor({ state: 'detached' });
      await page.getByText('Recovered', { exact: true }).waitFor();
      expect((await dashboard.service.api.get(`/api/v1/webhooks/${receiver.id}`)).status).toBe(404);
      const arrived = () => receiver.received.slice(before).map(({ headers }) => headers['webhook-id']);
      await expect.poll(() => [...missed].filter((id) => !arrived().includes(id))).toEqual([]);
      expect(new Set(arrived()).size).toBe(arrived().length);
    });
  });

const troubles = (dashboard: Dashboard) =>
  describe('the recovery of an endpoint', () => {
    it('continues after a reload and in another tab, and says what failed to members, who cannot act', async () => {
      const receiver = await aDisabledReceiver(dashboard);
      removeAfterwards(dashboard, receiver.url);
      const path = `/endpoints/${receiver.id}/recover`;
      const page = await dashboard.signedIn(ADMIN, path);
      const other = await dashboard.signedIn(ADMIN, path);
      await other.getByRole('button', { name: 'Register again' }).waitFor();
      const member = await dashboard.signedIn(MEMBER, path);
      await member.getByText('10 deliveries failed or were skipped').waitFor();
      await member
        .getByText('Only admins of the organization can change or send something here.')
        .first()
        .waitFor();
      expect(await member.getByRole('button', { name: 'Register again' }).count()).toBe(0);

      await registerAgain(page);
      await page.getByText('Nothing was resent, because the test event was not delivered.').waitFor();
      await expectAccessible(page);
      receiver.become(WELL);
      // It has not heard of it, and must not register a second one.
      if ((await other.getByRole('button', { name: 'Register again' }).count()) > 0)
        await other.getByRole('button', { name: 'Register again' }).click();
      expect(await other.getByRole('button', { name: RESEND }).count()).toBe(0);
      await other.getByRole('button', { name: 'Send a test event' }).click();
      await other.getByRole('button', { name: RESEND }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: RESEND }).click();
      await page.getByRole('link', { name: 'See the deliveries of the new endpoint' }).waitFor();
      await member.getByRole('link', { name: 'See the deliveries of the new endpoint' }).waitFor();
      const endpoints = await dashboard.service.api.all('/api/v1/webhooks');
      expect(endpoints.filter(({ url }) => url === receiver.url)).toHaveLength(2);
    });

    it('begins again when the receiver fails again, and resends from the first failure on', async () => {
      const receiver = await aDisabledReceiver(dashboard);
      removeAfterwards(dashboard, receiver.url);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${receiver.id}/recover`);
      receiver.become(WELL);
      await registerAgain(page);
      await page.getByRole('link', { name: 'See the deliveries of the new endpoint' }).waitFor();
      receiver.become(DOWN);
      for (let ticket = 0; ticket < FAILURES_TO_DISABLE; ticket += 1)
        await dashboard.service.api.post('/api/v1/tickets', {});
      await page.getByText('The receiver failed again').first().waitFor();
      receiver.become(WELL);
      await registerAgain(page);
      await page.getByRole('main').getByRole('button', { name: 'Send a test event' }).click();
      await page.getByRole('button', { name: RESEND }).click();
      await page.getByRole('button', { name: 'Delete the old endpoint' }).nth(1).waitFor();
    });

    it('says what to do at the limit of endpoints, beside another job, and after the end of the session', async () => {
      const receiver = await aDisabledReceiver(dashboard);
      removeAfterwards(dashboard, receiver.url);
      const page = await dashboard.signingIn(ADMIN, `/endpoints/${receiver.id}/recover`);
      const error = {
        type: 'LIMIT_EXCEEDED',
        message: 'An organization can have at most 50 webhook endpoints.',
      };
      const registrations = '**/api/settings/webhooks?*';
      await page.route(registrations, (route) =>
        route.request().method() === 'POST'
          ? route.fulfill({ status: 409, json: { success: false, error } })
          : route.continue(),
      );
      await page.getByRole('button', { name: 'Register again' }).click();
      await page.getByText('The limit of endpoints is reached').waitFor();
      await page.unroute(registrations);
      receiver.become(WELL);
      await registerAgain(page);

      const jobs = '**/redeliveries?*';
      await page.route(jobs, async (route) => {
        if (route.request().method() !== 'GET') return route.continue();
        const response = await route.fetch();
        const running = {
          id: `rdj_${'0'.repeat(32)}`,
          webhookId: receiver.id,
          status: 'running',
          reason: null,
          from: new Date(0).toISOString(),
          to: new Date(0).toISOString(),
          what: 'failed',
          dryRun: false,
          statuses: ['exhausted'],
          examined: 4,
          redelivered: 1,
          eventTypes: [],
          firstEventAt: null,
          progress: 0.5,
          createdAt: new Date(0).toISOString(),
          finishedAt: null,
        };
        return route.fulfill({ response, json: { success: true, data: [running], nextCursor: null } });
      });
      await page.reload();
      await page.getByText('Another job of this endpoint is running.').waitFor();
      await page.getByRole('button', { name: 'Stop' }).waitFor();
      await expectAccessible(page);
      await page.unrouteAll({ behavior: 'wait' });
      await page.getByText('Count again').click();
      await page.getByRole('button', { name: 'Count events' }).waitFor();

      await page.context().clearCookies();
      await page.getByRole('button', { name: 'Count events' }).click();
      await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    });

    it('is not needed by an endpoint that is well, or only failing', async () => {
      const well = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${well.id}/recover`);
      await page.getByText('Nothing to recover').waitFor();
      const failing = await aReceiverOwed(dashboard, DOWN, 1);
      await page.goto(`${dashboard.origin}/endpoints/${failing.id}/recover`);
      await page.getByText('1 of 10 failures in a row').waitFor();
      await page.getByRole('button', { name: 'Send a test event' }).waitFor();
    });
  });

/** Waits until the statistics, which follow the deliveries, have those of an endpoint that failed. */
const counted = ({ service }: Dashboard, id: string, failed: number) =>
  until('the statistics count the failed deliveries', async () => {
    const { body } = await service.api.get(`/api/v1/webhooks/${id}/stats`);
    return (body.data?.totals as { exhausted: number } | undefined)?.exhausted === failed;
  });

const causes = (dashboard: Dashboard) =>
  describe('failures', () => {
    it('are grouped by cause and resent as a group, each event once', async () => {
      let number = 0;
      const mark = crypto.randomUUID().replaceAll(/\d/g, 'x').slice(0, 8);
      const receiver = await aReceiverOwed(
        dashboard,
        { status: 422, body: `{"message":"${mark} 0 unknown"}` },
        1,
      );
      for (const _ of [1, 2]) {
        number += 1;
        receiver.become({ status: 422, body: `{"message":"${mark} ${number} unknown"}` });
        await dashboard.service.api.post('/api/v1/tickets', {});
        await dashboard.service.ended(receiver.id, number + 1);
      }
      const page = await dashboard.signedIn(ADMIN, '/failures?time=day');
      const group = page
        .getByRole('list', { name: 'Failures by cause' })
        .getByRole('listitem')
        .filter({ has: page.getByRole('heading', { name: `${mark} ${number} unknown` }) });
      await group.getByText('3 ×').waitFor();
      await expectAccessible(page);
      receiver.become(WELL);
      const before = receiver.received.length;
      await group.getByRole('button', { name: /^Resend this group/ }).click();
      await page.getByRole('button', { name: 'Resend 3 events' }).click();
      await page.getByText('Done. 3 resent').first().waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await expect.poll(() => receiver.received.length).toBe(before + 3);
      // What has arrived is left out.
      await group.getByRole('button', { name: /^Resend this group/ }).click();
      await page.getByRole('button', { name: 'Resend 3 events' }).click();
      await page.getByText('Done. 0 resent · 3 had arrived already').waitFor();
      expect(receiver.received.length).toBe(before + 3);
    });

    it('of an endpoint without any before are there after a refresh', async () => {
      const { id } = await aReceiverOwed(dashboard, { status: 422 }, 1);
      await counted(dashboard, id, 1);
      const page = await dashboard.signedIn(ADMIN, '/');
      let asked = 0;
      await page.route('**/api/settings/deliveries/stats?*hours=25*', async (route) => {
        asked += 1;
        const response = await route.fetch();
        const { success, data } = await response.json();
        await route.fulfill({
          response,
          json: { success, data: asked === 1 ? { ...data, endpoints: [] } : data },
        });
      });
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Failures').click();
      await page.getByRole('heading', { name: 'No failures' }).waitFor();
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.locator(`main a[href^="/deliveries/${id}"]`).first().waitFor();
    });

    it('of a disabled endpoint link to its recovery instead of being resent', async () => {
      const { id } = await aDisabledReceiver(dashboard);
      await counted(dashboard, id, FAILURES_TO_DISABLE);
      const page = await dashboard.signedIn(ADMIN);
      await page.getByRole('link', { name: 'Failures by cause' }).click();
      await page.getByRole('list', { name: 'Failures by cause' }).waitFor();
      await page.locator(`a[href="/endpoints/${id}/recover"]`).first().click();
      await page.getByRole('heading', { name: 'Recover an endpoint' }).waitFor();
    });
  });

const forms = (dashboard: Dashboard) =>
  describe('a form', () => {
    it('says in German at the field what the service refuses', async () => {
      const page = await dashboard.signedIn(ADMIN, '/endpoints', { locale: 'de-DE' });
      await page.getByRole('button', { name: 'Endpunkt hinzufügen' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Endpunkt-URL').fill('https://user:word@example.com/hooks');
      await dialog.getByRole('button', { name: 'Endpunkt hinzufügen' }).click();
      await dialog.getByText('Die URL darf keinen Benutzernamen und kein Passwort enthalten.').waitFor();
      await dialog.getByLabel('Endpunkt-URL').fill('https://example.com/hooks');
      await dialog
        .getByText('Die URL darf keinen Benutzernamen und kein Passwort enthalten.')
        .waitFor({ state: 'detached' });
    });

    it('registers all event types with a description and a limit, and shows examples', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      removeAfterwards(dashboard, receiver.url);
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Meaning and example payload').click();
      await dialog.getByText('"type": "ticket.created"').waitFor();
      await dialog.getByLabel('Endpoint URL').fill(receiver.url);
      await dialog.getByLabel('Description').fill('the shop');
      await dialog.getByLabel('Attempts per second').fill('7');
      await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
      await dialog.getByText(/^whsec_/).waitFor();
      const endpoints = await dashboard.service.api.all('/api/v1/webhooks');
      const made = endpoints.find(({ url }) => url === receiver.url);
      expect(made).toMatchObject({ description: 'the shop', maxPerSecond: 7 });
      expect(made?.events).toHaveLength(SubscribableType.options.length);
    });
  });
