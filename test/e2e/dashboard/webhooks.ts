import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../browser.ts';
import { ADMIN, type Dashboard, type Extent } from '../dashboard-fixture.ts';
import { aConversation, aReceiver, aReceiverOwed, WELL } from './receiving.ts';

const FAILING = { status: 500, body: 'the database of the receiver is down' };

export const endpoints = (dashboard: Dashboard, { isWhole }: Extent) =>
  describe('endpoints', () => {
    it('are registered with a secret that is shown once and verifies deliveries', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('Endpoint URL').fill(receiver.url);
      await page.getByRole('dialog').getByText('message.received', { exact: true }).click();
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      const secret = await page
        .getByRole('dialog')
        .getByText(/^whsec_/)
        .textContent();
      expect(await page.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
      await page.getByText('I have stored it in a safe place').click();
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByText(/^Delivered in/).waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('heading', { name: 'Health' }).waitFor();
      const [arrived] = receiver.received;
      expect(() =>
        new Webhook(secret ?? '').verify(
          Buffer.from(arrived?.body ?? ''),
          arrived?.headers as Record<string, string>,
        ),
      ).not.toThrow();
      expect(await page.content()).not.toContain(secret);
    });

    it('are deleted only after their URL is typed', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await dashboard.service.api.register(receiver.url, ['ticket.created']);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`);
      await page.getByRole('button', { name: 'Delete' }).click();
      const confirm = page.getByRole('button', { name: 'Delete the endpoint' });
      await page.getByLabel('Type the endpoint URL to confirm').fill(receiver.url.slice(0, -1));
      expect(await confirm.isDisabled()).toBe(true);
      await page.getByLabel('Type the endpoint URL to confirm').fill(receiver.url);
      await confirm.click();
      await page.waitForURL('**/endpoints');
      expect((await dashboard.service.api.get(`/api/v1/webhooks/${id}`)).status).toBe(404);
    });

    if (!isWhole) return;

    it('are paused after a confirmation, and resumed by a job whose progress is shown', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await dashboard.service.api.register(receiver.url, ['ticket.created']);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Pause' }).click();
      await page.getByText('Paused since').waitFor();
      await dashboard.service.api.post('/api/v1/tickets', {});
      const [skipped] = await dashboard.service.ended(id, 1);
      expect(skipped).toMatchObject({ status: 'skipped', terminalReason: 'endpoint_paused' });
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByText('begins 90 seconds after resuming').waitFor();
      await page.getByText('Not begun yet.').waitFor();
      await page.reload();
      await page.getByRole('progressbar', { name: 'Progress' }).waitFor();
      await expectAccessible(page);
    });

    it('show what a filter would send before it is saved, and explain to events what it left out', async () => {
      const { api } = dashboard.service;
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await api.register(receiver.url, ['message.received']);
      const conversation = await aConversation(dashboard);
      const [{ eventId } = {}] = await dashboard.service.ended(id, 1);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`);
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('dialog').getByText('agent', { exact: true }).click();
      await page.getByText(/\d events? that (is|are) sent today would no longer be\./).waitFor();
      await expectAccessible(page);
      await page.getByRole('dialog').getByText('user', { exact: true }).click();
      // Other tests send messages too, of which some are the assistant's.
      await page.getByText(/Nothing that is sent today would be left out|would no longer be/).waitFor();
      const examples = page.getByRole('list', { name: 'Examples' });
      await examples.getByText('message.received · user').first().waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect((await api.get(`/api/v1/webhooks/${id}`)).body.data?.filter).toEqual({
        roles: ['user', 'agent'],
      });

      const later = await aReceiver(dashboard, WELL);
      await api.register(later.url, ['message.received']);
      await page.goto(`${dashboard.origin}/events/${eventId}`);
      await page.getByText('it was registered after the event').first().waitFor();
      const message = { role: 'system', content: 'Hi' };
      const sent = await api.post(`/api/v1/conversations/${conversation.id}/messages`, message);
      const events = Object.values((await api.get('/api/v1/events?type=message.received')).body.data ?? {});
      const event = events.find((one) => Object(one).data.messageId === sent.body.data?.id);
      await page.goto(`${dashboard.origin}/events/${Object(event).id}`);
      await page.getByText('its filter excludes the event').first().waitFor();
      await expectAccessible(page);
    });

    it('cannot be left while they are being registered, because their secret is shown once', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      const { promise: seen, resolve: see } = Promise.withResolvers<void>();
      let isRegistered = false;
      await page.route('**/api/settings/webhooks?*', async (route) => {
        if (route.request().method() === 'POST') {
          await held;
          isRegistered = true;
        } else if (isRegistered) await seen;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('Endpoint URL').fill(receiver.url);
      await page.getByRole('dialog').getByText('message.received', { exact: true }).click();
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      await page.getByRole('button', { name: 'Cancel', disabled: true }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Cancel', disabled: true }).waitFor();
      release();
      // Also while the list, which is read again, is not answered.
      await page
        .getByRole('dialog')
        .getByText(/^whsec_/)
        .waitFor();
      see();
    });

    it('show a change without waiting for what is read again', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await dashboard.service.api.register(receiver.url, ['ticket.created']);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`);
      await page.getByRole('button', { name: 'Edit' }).click();
      const { promise: seen, resolve: see } = Promise.withResolvers<void>();
      await page.route('**/api/settings/**', async (route) => {
        if (route.request().method() === 'GET') await seen;
        await route.continue();
      });
      await page.getByRole('dialog').getByLabel('Endpoint URL').fill(`${receiver.url}/new`);
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await page.getByText(`${receiver.url}/new`).first().waitFor();
      see();
    });

    it('show a delivery that was requested before it existed', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await dashboard.service.api.register(receiver.url, ['ticket.created']);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`);
      // As if it came even later.
      const pattern = new RegExp(`/api/settings/webhooks/${id}/deliveries/dlv_`);
      await page.route(pattern, (route) =>
        route.fulfill({ status: 404, json: { error: { type: 'NOT_FOUND', message: 'not there' } } }),
      );
      const looked = page.waitForResponse(pattern);
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await looked;
      await page.getByRole('link', { name: 'All deliveries' }).click();
      const first = page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first();
      await first.waitFor();
      await page.unroute(pattern);
      await first.click();
      await page.getByRole('region', { name: 'Delivery' }).getByText('Attempt 1').first().waitFor();
    });

    it('are refused with a reason at the field, each fault in the page’s words and in one round', async () => {
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByRole('button', { name: 'Select none' }).click();
      await page.getByLabel('Endpoint URL').fill('http://receiver.example');
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      await page.getByText('The URL must begin with https://.').waitFor();
      await page.getByText('Choose at least 1.').waitFor();
      await page.getByLabel('Endpoint URL').fill('https://10.0.0.1/internal');
      await page.getByRole('dialog').getByText('message.received', { exact: true }).click();
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByText('The URL must have a public host name or public IP address.').waitFor();
      await page.locator('input[name=url]:focus').waitFor();
      await page.keyboard.press('End');
      await page.keyboard.type('/hooks');
      // Nothing that was typed is lost, neither the first key in a refused field nor the form by Escape.
      await page.keyboard.press('Escape');
      expect(await page.getByLabel('Endpoint URL').inputValue()).toBe('https://10.0.0.1/internal/hooks');
    });
  });

export const deliveries = (dashboard: Dashboard, { isWhole }: Extent) =>
  describe('deliveries', () => {
    it('show in two clicks from the overview why they failed', async () => {
      const { id } = await aReceiverOwed(dashboard, FAILING, 1);
      const page = await dashboard.signedIn(ADMIN);
      await page.locator(`a[href="/deliveries/${id}?status=failed"]`).click();
      await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().click();
      const detail = page.getByRole('region', { name: 'Delivery' });
      await detail.getByText('Attempt 8').first().waitFor();
      expect(await detail.getByText('Response 500', { exact: true }).count()).toBe(8);
      await detail.getByText(FAILING.body).first().waitFor();
    });

    it('are resent one by one', async () => {
      const receiver = await aReceiverOwed(dashboard, FAILING, 1);
      receiver.become(WELL);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${receiver.id}`);
      await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().click();
      await page.getByRole('button', { name: 'Resend', exact: true }).click();
      await page.getByRole('button', { name: 'Open the new delivery' }).click();
      const detail = page.getByRole('region', { name: 'Delivery' });
      await detail.getByText('Resends').waitFor();
      await detail.getByText('Succeeded').waitFor();
    });

    it('appear and change without a reload', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`);
      const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
      await rows.first().waitFor();
      await dashboard.service.api.post('/api/v1/tickets', {});
      await rows.nth(1).waitFor();
      await rows.first().getByText('Succeeded').waitFor();
    });

    if (!isWhole) return;

    it('are resent once, although the answer is lost and the button clicked again', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`);
      await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().click();
      await page.route(
        '**/redeliver?*',
        async (route) => {
          await route.fetch();
          await route.abort();
        },
        { times: 1 },
      );
      const detail = page.getByRole('region', { name: 'Delivery' });
      await detail.getByRole('button', { name: 'Resend', exact: true }).click();
      await detail.getByText('The service cannot be reached.').waitFor();
      await detail.getByRole('button', { name: 'Resend', exact: true }).click();
      await detail.getByText('Resent as a new delivery').waitFor();
      expect(await dashboard.service.ended(id, 2)).toHaveLength(2);
    });

    it('that succeeded are resent only after a confirmation that names their number', async () => {
      const receiver = await aReceiverOwed(dashboard, WELL, 2);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${receiver.id}?status=succeeded`);
      await page.getByRole('button', { name: 'Resend deliveries' }).click();
      await page.getByRole('button', { name: 'Count events' }).click();
      await page.getByRole('button', { name: 'Resend 2 events' }).click();
      const confirm = page.getByRole('alertdialog', { name: 'Resend 2 events?' });
      await expectAccessible(page);
      expect(await dashboard.service.ended(receiver.id, 2)).toHaveLength(2);
      await confirm.getByRole('button', { name: 'Resend 2 events' }).click();
      await page.getByRole('list', { name: 'Resend jobs' }).getByText('Done', { exact: true }).waitFor();
      await dashboard.service.ended(receiver.id, 4);
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    });

    it('that failed since a time are resent together, with progress to the end', async () => {
      const receiver = await aReceiverOwed(dashboard, FAILING, 3);
      receiver.become(WELL);
      const before = receiver.received.length;
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${receiver.id}`);
      await page.getByRole('button', { name: 'Resend deliveries' }).click();
      await page.getByRole('button', { name: 'Count events' }).click();
      await page.getByRole('button', { name: 'Resend 3 events' }).click();
      const jobs = page.getByRole('list', { name: 'Resend jobs' });
      await jobs.getByText('Done', { exact: true }).waitFor();
      await jobs.getByText(/^3 of \d+ resent/).waitFor();
      const all = await dashboard.service.ended(receiver.id, 6);
      expect(all.filter(({ status }) => status === 'succeeded')).toHaveLength(3);
      expect(receiver.received.length).toBe(before + 3);
      // What has arrived is not counted again.
      await page.getByRole('button', { name: 'Count events' }).click();
      await page.getByText('There is nothing to resend.').waitFor();
    });

    it('are filtered by status, event and time, which the URL keeps', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 2);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`);
      const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
      await rows.nth(1).waitFor();
      await page.getByLabel('Status').selectOption({ label: 'Failed or skipped' });
      await page.getByText('No delivery matches these filters.').waitFor();
      expect(new URL(page.url()).search).toBe('?status=failed');
      await page.reload();
      await page.getByText('No delivery matches these filters.').waitFor();
      await page.getByLabel('Status').selectOption({ label: 'Succeeded' });
      await page.getByLabel('Event').selectOption('ticket.created');
      await page.getByLabel('Time').selectOption({ label: 'Last hour' });
      await rows.nth(1).waitFor();
    });

    it.each([
      { width: 1280, height: 900 },
      { width: 1000, height: 700 },
    ])('are usable by keyboard alone, $width pixels wide', async (viewport) => {
      const { id } = await aReceiverOwed(dashboard, WELL, 3);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`, { viewport });
      const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('link');
      const focused = (index: number) => page.locator(`[data-index="${index}"] a:focus`).waitFor();
      await rows.nth(2).waitFor();
      await page.getByLabel('Time').focus();
      await page.keyboard.press('Tab');
      await focused(0);
      await page.keyboard.press('End');
      await focused(2);
      await page.keyboard.press('ArrowUp');
      await focused(1);
      // The list is one tab stop of the page.
      await page.keyboard.press('Shift+Tab');
      await page.locator('select:focus').waitFor();
      await page.keyboard.press('Tab');
      await focused(1);
      await page.keyboard.press('Enter');
      await page.locator('h2:focus', { hasText: 'Delivery' }).waitFor();
      await page.getByRole('region', { name: 'Delivery' }).getByText('Attempt 1').first().waitFor();
      await page.keyboard.press('Escape');
      await focused(1);
      await page.keyboard.press('Home');
      await focused(0);
    });
  });
