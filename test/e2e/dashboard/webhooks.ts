import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { ADMIN, type Dashboard } from '../a-dashboard.ts';
import { aReceiver, aReceiverOwed, WELL } from './receiving.ts';

const FAILING = { status: 500, body: 'the database of the receiver is down' };

export const endpoints = (dashboard: Dashboard) =>
  describe('endpoints', () => {
    it('are registered with a secret that is shown once and verifies what comes', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('Address').fill(receiver.url);
      await page.getByRole('dialog').getByText('message.received', { exact: true }).click();
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      const secret = await page
        .getByRole('dialog')
        .getByText(/^whsec_/)
        .textContent();
      expect(await page.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
      await page.getByText('I have stored it in a safe place').click();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('link', { name: receiver.url }).click();
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByText(/^Arrived: your receiver accepted it after/).waitFor();
      const [arrived] = receiver.received;
      expect(() =>
        new Webhook(secret ?? '').verify(
          Buffer.from(arrived?.body ?? ''),
          arrived?.headers as Record<string, string>,
        ),
      ).not.toThrow();
      expect(await page.content()).not.toContain(secret);
    });

    it('are refused with a reason and a request id', async () => {
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('Address').fill('https://10.0.0.1/internal');
      await page.getByRole('dialog').getByText('message.received', { exact: true }).click();
      await page.getByRole('button', { name: 'Add the endpoint' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByText('Request id').first().waitFor();
      expect(await page.getByLabel('Address').inputValue()).toBe('https://10.0.0.1/internal');
    });

    it('are deleted when their address is typed, and not before', async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await dashboard.service.api.register(receiver.url, ['ticket.created']);
      const page = await dashboard.signedIn(ADMIN, `/endpoints/${id}`);
      await page.getByRole('button', { name: 'Delete' }).click();
      const confirm = page.getByRole('button', { name: 'Delete the endpoint' });
      await page.getByLabel('Type the address to confirm').fill(receiver.url.slice(0, -1));
      expect(await confirm.isDisabled()).toBe(true);
      await page.getByLabel('Type the address to confirm').fill(receiver.url);
      await confirm.click();
      await page.waitForURL('**/endpoints');
      expect((await dashboard.service.api.get(`/api/v1/webhooks/${id}`)).status).toBe(404);
    });
  });

export const deliveries = (dashboard: Dashboard) =>
  describe('deliveries', () => {
    it('tell in two clicks from the overview why they did not arrive', async () => {
      const { id } = await aReceiverOwed(dashboard, FAILING, 1);
      const page = await dashboard.signedIn(ADMIN);
      await page.locator(`a[href="/deliveries/${id}?status=failed"]`).click();
      await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().click();
      const detail = page.getByRole('region', { name: 'Delivery' });
      await detail.getByText('Attempt 8').first().waitFor();
      expect(await detail.getByText('Answered 500', { exact: true }).count()).toBe(8);
      await detail.getByText(FAILING.body).first().waitFor();
    });

    it('are sent again, one by one', async () => {
      const receiver = await aReceiverOwed(dashboard, FAILING, 1);
      receiver.become(WELL);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${receiver.id}`);
      await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().click();
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('button', { name: 'Open it' }).click();
      const detail = page.getByRole('region', { name: 'Delivery' });
      await detail.getByText('Sends again').waitFor();
      await detail.getByText('Succeeded').waitFor();
    });

    it('that failed since a time are sent again together, with progress to the end', async () => {
      const receiver = await aReceiverOwed(dashboard, FAILING, 3);
      receiver.become(WELL);
      const before = receiver.received.length;
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${receiver.id}`);
      await page.getByRole('button', { name: 'Send failed ones again' }).click();
      await page.getByRole('button', { name: 'Send them again' }).click();
      const jobs = page.getByRole('list', { name: 'Sendings again' });
      await jobs.getByText('Done', { exact: true }).waitFor();
      await jobs.getByText(/^3 sent again/).waitFor();
      const all = await dashboard.service.ended(receiver.id, 6);
      expect(all.filter(({ status }) => status === 'succeeded')).toHaveLength(3);
      expect(receiver.received.length).toBe(before + 3);
    });

    it('appear by themselves, and change before the eyes of whoever looks', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`);
      const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
      await rows.first().waitFor();
      await dashboard.service.api.post('/api/v1/tickets', {});
      await rows.nth(1).waitFor();
      await rows.first().getByText('Succeeded').waitFor();
    });

    it('are narrowed by status, event and time, which the address keeps', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 2);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`);
      const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
      await rows.nth(1).waitFor();
      await page.getByLabel('Status').selectOption({ label: 'Failed or skipped' });
      await page.getByText('No delivery is like this.').waitFor();
      expect(new URL(page.url()).search).toBe('?status=failed');
      await page.reload();
      await page.getByText('No delivery is like this.').waitFor();
      await page.getByLabel('Status').selectOption({ label: 'Succeeded' });
      await page.getByLabel('Event').selectOption('ticket.created');
      await page.getByLabel('Time').selectOption({ label: 'Last hour' });
      await rows.nth(1).waitFor();
    });

    it('are read by keyboard alone', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 2);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`);
      const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('link');
      await rows.nth(1).waitFor();
      await page.getByLabel('Time').focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await page.locator('[data-index="1"] a:focus').waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'Delivery' }).getByText('Attempt 1').first().waitFor();
    });
  });
