import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiClient } from '../../support/api.ts';
import { expectAccessible } from '../browser.ts';
import { ADMIN, type Dashboard, type Extent, MEMBER } from '../dashboard-fixture.ts';
import { eventDetail, eventRows, navigationOf, searchField } from './places.ts';
import { aConversation, aReceiver, aReceiverOwed, WELL } from './receiving.ts';

const FAILING = { status: 500, body: 'the database of the receiver is down' };

/** What these tests cause. Events about endpoints come later than their causes. */
const TYPES =
  'conversation.created,message.received,handoff.requested,ticket.created,conversation.resolved,webhook.test';

/** The newest event of the live organization. */
async function newestEvent({ service }: Dashboard): Promise<string> {
  const { body } = await service.api.get(`/api/v1/events?limit=1&type=${TYPES}`);
  return String([...(body.data ?? [])][0]?.id);
}

/** Opens the search and pastes a text. */
async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await searchField(page).fill(text);
}

export const events = (dashboard: Dashboard, { isWhole }: Extent) =>
  describe('events', () => {
    it('show why one did not arrive, and its payload', async () => {
      const receiver = await aReceiver(dashboard, FAILING);
      const webhook = await dashboard.service.api.register(receiver.url, ['ticket.created']);
      onTestFinished(async () => {
        await dashboard.service.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${webhook.id}` });
      });
      await dashboard.service.api.post('/api/v1/tickets', {});
      const id = await newestEvent(dashboard);
      const page = await dashboard.signedIn(ADMIN);
      await navigationOf(page).getByRole('link', { name: 'Events' }).click();
      await page.locator(`a[href="/events/${id}"]`).click();
      await eventDetail(page).getByText('Response 500', { exact: true }).first().waitFor();
      await eventDetail(page).getByText(FAILING.body).first().waitFor();
      await eventDetail(page).getByRole('tab', { name: 'Payload' }).click();
      await eventDetail(page).locator('pre', { hasText: '"ticket.created"' }).waitFor();
    });

    if (!isWhole) return;

    it('of a conversation are found from one of them', async () => {
      const { id } = await aConversation(dashboard);
      const event = await newestEvent(dashboard);
      const page = await dashboard.signedIn(ADMIN);
      await navigationOf(page).getByRole('link', { name: 'Events' }).click();
      await page.locator(`a[href="/events/${event}"]`).click();
      await eventDetail(page).getByRole('link', { name: 'All events of this conversation' }).click();
      await page.waitForURL(`**/events?conversation=${id}`);
      await eventRows(page).nth(1).waitFor();
      expect(await eventRows(page).allTextContents()).toMatchObject([
        expect.stringContaining('message.received'),
        expect.stringContaining('conversation.created'),
      ]);
    });

    it('and all else that has an ID are opened by pasting it into the search', async () => {
      const { id: webhookId } = await aReceiverOwed(dashboard, WELL, 1);
      const event = await newestEvent(dashboard);
      const [delivery] = await dashboard.service.ended(webhookId, 1);
      const { id: conversation } = await aConversation(dashboard);
      const page = await dashboard.signedIn(ADMIN);
      await search(page, `"${event}",`);
      await page.waitForURL(`**/events/${event}`);
      await search(page, String(delivery?.id));
      await page.waitForURL(`**/deliveries/${webhookId}/${delivery?.id}`);
      await search(page, conversation);
      await page.waitForURL(`**/events?conversation=${conversation}`);
      await search(page, `evt_${'0'.repeat(32)}`);
      await page.getByText('It is older than 30 days.').waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      // What is typed before the field is there is not lost.
      await page.keyboard.press('Control+k');
      await page.keyboard.type('failu');
      await page.getByRole('option', { name: /^Failures/ }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/failures');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });

    it('appear without a reload, with what became of each', async () => {
      const { url } = await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, '/events?type=ticket.created');
      await eventRows(page).first().waitFor();
      await dashboard.service.api.post('/api/v1/tickets', {});
      const row = page.locator(`a[data-row="${await newestEvent(dashboard)}"]`);
      await row.getByText('Succeeded').waitFor();
      expect(await row.textContent()).toContain(url);
    });

    it('are filtered by type, endpoint, outcome and time, which the URL and going back keep', async () => {
      const { id } = await aReceiverOwed(dashboard, FAILING, 1);
      await dashboard.service.api.post('/api/v1/tickets', {});
      const page = await dashboard.signedIn(ADMIN, '/events');
      await page.getByLabel('Event type').selectOption('ticket.created');
      await page.getByLabel(/^Endpoint/).selectOption(id);
      await page.getByLabel('Outcome').selectOption({ label: 'Failed or skipped' });
      await page.getByLabel('Time').selectOption({ label: 'Last hour' });
      await eventRows(page).nth(1).waitFor();
      const { search: filters } = new URL(page.url());
      expect(filters).toBe(`?type=ticket.created&endpoint=${id}&outcome=failed&time=hour`);
      await page.getByLabel('Outcome').selectOption({ label: 'Succeeded' });
      await page.getByText('No event matches.').waitFor();
      await page.getByLabel('Outcome').selectOption({ label: 'Failed or skipped' });
      await eventRows(page).first().click();
      await eventDetail(page).getByRole('link', { name: 'Open the delivery' }).click();
      await page.getByRole('region', { name: 'Delivery' }).getByText('Attempt 8').first().waitFor();
      await page.goBack();
      await eventDetail(page).getByText('Attempt 8').first().waitFor();
      await page.goBack();
      await page.waitForURL(`**/events${filters}`);
      await eventRows(page).nth(1).waitFor();
    });

    it('that arrived nowhere say so', async () => {
      await aConversation(dashboard);
      const event = await newestEvent(dashboard);
      const page = await dashboard.signedIn(ADMIN, `/events/${event}`);
      await eventDetail(page).getByText('Deliveries appear within seconds').waitFor();
      // As if a minute had passed.
      await page.route('**/api/settings/events/**', async (route) => {
        const response = await route.fetch();
        const { data, ...rest } = await response.json();
        const createdAt = new Date(Date.parse(data.createdAt) - 60_000).toISOString();
        await route.fulfill({ response, json: { ...rest, data: { ...data, createdAt } } });
      });
      await page.reload();
      await eventDetail(page).getByText('No endpoint received this event').waitFor();
    });

    it('are resent from where it shows that they failed, by admins alone', async () => {
      const receiver = await aReceiverOwed(dashboard, FAILING, 1);
      receiver.become(WELL);
      const event = await newestEvent(dashboard);
      const member = await dashboard.signedIn(MEMBER, `/events/${event}`);
      await eventDetail(member)
        .getByText('Only admins of the organization can change or send something here.')
        .waitFor();
      expect(await eventDetail(member).getByRole('button', { name: 'Resend' }).count()).toBe(0);
      const page = await dashboard.signedIn(ADMIN, `/events/${event}`);
      await eventDetail(page).getByRole('button', { name: 'Resend' }).click();
      await eventDetail(page).getByRole('status').getByText('Succeeded').waitFor();
      await page.reload();
      await eventDetail(page).getByText('Resent', { exact: true }).waitFor();
      const row = page.locator(`a[data-row="${event}"]`);
      await row.getByText('Succeeded').waitFor();
    });

    it('have a payload in which is searched', async () => {
      await dashboard.service.api.post('/api/v1/tickets', { reason: 'needle in a haystack, Needle' });
      const event = await newestEvent(dashboard);
      const page = await dashboard.signedIn(ADMIN, `/events/${event}?show=payload`);
      await page.getByLabel('Find in the payload').fill('needle');
      await page.getByText('1 of 2', { exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('2 of 2', { exact: true }).waitFor();
      expect(await page.locator('mark').allTextContents()).toEqual(['needle', 'Needle']);
      await page.getByLabel('Find in the payload').fill('nothing');
      await page.getByText('No match').waitFor();
    });

    it.each([
      { width: 1280, height: 900 },
      { width: 390, height: 800 },
    ])('are usable by keyboard alone, $width pixels wide', async (viewport) => {
      await aReceiverOwed(dashboard, WELL, 3);
      const page = await dashboard.signedIn(ADMIN, '/events?type=ticket.created', { viewport });
      const focused = (index: number) => page.locator(`[data-index="${index}"] a:focus`).waitFor();
      await eventRows(page).nth(2).waitFor();
      await eventRows(page).first().focus();
      await page.keyboard.press('ArrowDown');
      await focused(1);
      await page.keyboard.press('Enter');
      await page.locator('h2:focus', { hasText: 'ticket.created' }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await focused(1);
      // The search opens by a slash, unless that is text, and gives the focus back.
      await page.keyboard.press('/');
      await page.locator('[role=combobox]:focus').waitFor();
      await page.keyboard.press('/');
      expect(await page.getByRole('dialog').getByRole('combobox').inputValue()).toBe('/');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await focused(1);
    });

    it('of the sandbox open there, wherever their ID was pasted', async () => {
      const page = await dashboard.signedIn(ADMIN);
      const { BASE_URL, SANDBOX_API_KEY } = dashboard.service.run.environment;
      const sandbox = apiClient({ BASE_URL, API_KEY: SANDBOX_API_KEY });
      onTestFinished(() => sandbox.close());
      await sandbox.post('/api/v1/tickets', {});
      const { body } = await sandbox.get('/api/v1/events?limit=1');
      const id = String([...(body.data ?? [])][0]?.id);
      await search(page, id);
      await page.waitForURL(`**/sandbox/events/${id}`);
      await eventDetail(page).getByText('ticket.created').first().waitFor();
      await page.goto(`${dashboard.origin}/events/${id}`);
      await eventDetail(page).getByText('The live organization has no event with this ID.').waitFor();
      await eventDetail(page).getByRole('link', { name: 'Look in the sandbox' }).click();
      await page.waitForURL(`**/sandbox/events/${id}`);
    });

    it('have deliveries that open without their endpoint, also after it was deleted', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 1);
      const [delivery] = await dashboard.service.ended(id, 1);
      const event = await newestEvent(dashboard);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${delivery?.id}`);
      await page.waitForURL(`**/deliveries/${id}/${delivery?.id}`);
      await dashboard.service.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
      await page.goto(`${dashboard.origin}/deliveries/${delivery?.id}`);
      await page.waitForURL(`**/events/${event}`);
      await eventDetail(page).getByText('The endpoint was deleted.').waitFor();
      await page.goto(`${dashboard.origin}/deliveries/dlv_${'0'.repeat(32)}`);
      await page.getByText('This delivery no longer exists').waitFor();
    });
  });
