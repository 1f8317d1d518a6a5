import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectAccessible } from '../browser.ts';
import { ADMIN, type Dashboard } from '../dashboard-fixture.ts';
import { aReceiver, aReceiverOwed, WELL } from './receiving.ts';

const UNREACHABLE = 'The service cannot be reached. Check your connection.';

/** The dashboard's messages when something fails. */
export const trouble = (dashboard: Dashboard) => {
  async function anEndpoint(): Promise<{ id: string; url: string }> {
    const { api } = dashboard.service;
    const { id } = await api.register(`https://example.com/${crypto.randomUUID()}`, ['handoff.requested']);
    onTestFinished(async () => {
      await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
    });
    const { data } = (await api.get(`/api/v1/webhooks/${id}`)).body;
    return { id, url: String(data?.url) };
  }

  describe('without a network', () => {
    it('a write fails at once, and is not repeated later', async () => {
      const { id, url } = await anEndpoint();
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`);
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByLabel('Type the endpoint URL to confirm').fill(url);
      await page.context().setOffline(true);
      await page.getByRole('button', { name: 'Delete the endpoint' }).click();
      await page.getByRole('alertdialog').getByText(UNREACHABLE).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();

      const written: string[] = [];
      page.on('request', (request) => {
        if (request.method() !== 'GET') written.push(request.url());
      });
      const readAgain = page.waitForResponse((response) => response.url().includes(`/webhooks/${id}`));
      await page.context().setOffline(false);
      expect((await readAgain).status()).toBe(200);
      expect(written).toEqual([]);
      expect((await dashboard.service.api.get(`/api/v1/webhooks/${id}`)).status).toBe(200);
    });
  });

  describe('a page whose file is missing', () => {
    const withoutUsage = (page: Page) => page.route('**/assets/usage-*', (route) => route.abort());

    it('is requested once more, reported missing, and shown when it is there', async () => {
      const page = await dashboard.signedIn(ADMIN, '/settings');
      await withoutUsage(page);
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Usage').click();
      await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor();
      await expectAccessible(page);
      // The rest of the page is still there.
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Settings').click();
      await page.getByRole('heading', { name: 'Settings' }).waitFor();
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Usage').click();
      await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor();
      await page.unroute('**/assets/usage-*');
      await page.getByRole('button', { name: 'Reload the page' }).click();
      await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    });

    it('causes no reload while no server answers: the rest of the page stays', async () => {
      const page = await dashboard.signedIn(ADMIN, '/settings');
      await page.evaluate('window.isTheSame = true');
      await page.context().setOffline(true);
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Usage').click();
      await page.getByText(UNREACHABLE).waitFor();
      await page.getByRole('button', { name: 'Reload the page' }).click();
      await page.getByText(UNREACHABLE).waitFor();
      expect(await page.evaluate('window.isTheSame')).toBe(true);
      await page.context().setOffline(false);
    });
  });

  describe('endpoints', () => {
    it('are reported as deleted when another user deletes them', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await dashboard.service.api.register(receiver.url, ['ticket.created']);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`);
      await page.getByRole('button', { name: 'Delete' }).waitFor();
      await dashboard.service.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
      await page.getByRole('heading', { name: 'This endpoint no longer exists' }).waitFor();
      expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
      await page.getByRole('link', { name: 'All endpoints' }).click();
      await page.getByRole('heading', { name: 'Endpoints', exact: true }).waitFor();
    });
  });

  describe('deliveries', () => {
    it('show an alert while they cannot be polled', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`);
      const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
      await rows.first().waitFor();
      const list = `**/api/settings/webhooks/${id}/deliveries?*`;
      const error = { type: 'SERVICE_UNAVAILABLE', message: 'down', requestId: 'req-of-the-look' };
      await page.route(list, (route) => route.fulfill({ status: 503, json: { success: false, error } }));
      const alert = page.getByRole('alert');
      await alert.getByText('req-of-the-look').waitFor();
      expect(await rows.count()).toBe(1);
      await page.unroute(list);
      await dashboard.service.api.post('/api/v1/tickets', {});
      await rows.nth(1).waitFor();
      await alert.waitFor({ state: 'detached' });
    });
  });

  describe('an outage of a receiver', () => {
    it('is on the overview before the first delivery has failed permanently', async () => {
      const { id } = await anEndpoint();
      const page = await dashboard.signedIn(ADMIN, '/settings');
      // The API's own tests cover such deliveries; here they would take minutes.
      await page.route('**/api/settings/deliveries/stats*', async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        for (const row of body.data.endpoints)
          if (row.webhookId === id) {
            row.waitingSince = new Date(Date.now() - 5 * 60_000).toISOString();
            row.totals.pending = 12;
            body.data.totals.pending += 12;
            body.data.backlog.pending += 12;
          }
        await route.fulfill({ response, json: body });
      });
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Overview').click();
      const item = page.getByRole('listitem').filter({ has: page.locator(`a[href="/endpoints/${id}"]`) });
      await item.getByText('Waiting', { exact: true }).waitFor();
      await item
        .getByText(/^12 deliveries have not arrived yet\. Oldest waiting since 5 minutes ago/)
        .waitFor();
      await page.getByText('Not ended yet, so not in the rate.', { exact: false }).waitFor();
      await item.getByRole('link', { name: 'See why' }).click();
      await page.waitForURL(`**/deliveries/${id}?status=open`);
    });
  });
};
