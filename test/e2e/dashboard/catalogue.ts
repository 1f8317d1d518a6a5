import { AxeBuilder } from '@axe-core/playwright';
import { PATIENCE } from 'aws-local/test/patience.ts';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { apiClient } from '../../support/api.ts';
import { expectAccessible } from '../browser.ts';
import { ADMIN, type Dashboard, MEMBER } from '../dashboard-fixture.ts';
import { makeYesterday, navigationOf } from './places.ts';
import { aReceiverOwed, WELL } from './receiving.ts';

export const eventTypes = (dashboard: Dashboard) =>
  describe('event types', () => {
    it('show their payload, and send an example that the receiver can verify', async () => {
      const receiver = await aReceiverOwed(dashboard, WELL, 0);
      const page = await dashboard.signedIn(ADMIN);
      await navigationOf(page).getByText('Event types').click();
      await page.getByRole('link', { name: 'ticket.created' }).click();
      await page.getByRole('row').filter({ hasText: 'data.ticketId' }).getByText('tkt_').waitFor();
      await page.getByRole('button', { name: 'Send an example' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Endpoint').selectOption(receiver.id);
      await dialog.getByRole('button', { name: 'Send', exact: true }).click();
      await dialog.getByText(/^Delivered in/).waitFor();
      const [arrived] = receiver.received;
      const event = new Webhook(receiver.secret).verify(
        arrived?.body ?? '',
        arrived?.headers as Record<string, string>,
      );
      expect(event).toMatchObject({ type: 'ticket.created' });
      expect(arrived?.headers['webhook-example']).toBe('true');
    });

    it('name the endpoints that receive them', async () => {
      const receiver = await aReceiverOwed(dashboard, WELL, 0);
      const page = await dashboard.signedIn(ADMIN, '/event-types/ticket-created');
      await page.locator(`a[href="/endpoints/${receiver.id}"]`).waitFor();
      await page.goto(`${dashboard.origin}/sandbox/event-types/ticket-created`);
      await page.getByText('No endpoint subscribes to this type.').waitFor();
    });

    it('are readable for members, who cannot send examples', async () => {
      const page = await dashboard.signedIn(MEMBER, '/event-types/ticket-created');
      await page.getByText('An admin of the organization can send an example.').waitFor();
      expect(await page.getByRole('button', { name: 'Send an example' }).count()).toBe(0);
    });

    it('have descriptions of all fields in German, and are accessible', async () => {
      const page = await dashboard.signedIn(ADMIN, '/event-types/ticket-created', { locale: 'de' });
      await page.getByText('Die Konversation, die dazu führte; fehlt, wenn es keine gibt.').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Beispiel senden' }).click();
      await page.getByRole('dialog').waitFor();
      await expectAccessible(page);
    });
  });

export const auditLog = (dashboard: Dashboard) =>
  describe('the audit log', () => {
    it('shows what changed yesterday, and by whom', async () => {
      const { environment } = dashboard.service.run;
      const admin = apiClient({ BASE_URL: environment.BASE_URL, API_KEY: environment.ADMIN_TOKEN }, 1);
      const name = `Night job ${crypto.randomUUID()}`;
      await admin.post('/api/settings/api-keys', { name, scopes: ['read:webhooks'] });
      admin.close();
      const page = await dashboard.signedIn(ADMIN);
      await makeYesterday(page);
      await navigationOf(page).getByText('Audit log').click();
      await page.getByLabel('Time').selectOption({ label: 'Yesterday' });
      const entry = page.locator('details').filter({ hasText: name });
      await entry.getByText('API key created').waitFor();
      await entry.locator('summary').getByText(ADMIN).waitFor();
      await entry.locator('summary').click();
      await entry.getByRole('row').filter({ hasText: 'scopes' }).getByText('read:webhooks').waitFor();
      await page.getByRole('heading', { name: /^Yesterday, / }).waitFor();
      expect(new URL(page.url()).search).toBe('?time=yesterday');

      // From the entry to the key that it is about, which its list marks.
      await entry.locator('a[href^="/api-keys?key="]').click();
      const row = page.locator('tr[aria-current="true"]');
      await row.getByText(name).waitFor();
      await row.getByText(`by ${ADMIN}`).waitFor();
    });

    it('is filtered by actor, action and environment, which the URL keeps', async () => {
      const { id } = await aReceiverOwed(dashboard, WELL, 0);
      const page = await dashboard.signedIn(ADMIN, '/audit-log');
      const entries = page.locator('details');
      await entries.first().waitFor();
      await page.getByLabel(/^Change(?!d)/).selectOption({ label: 'Endpoint added' });
      await page.getByLabel('Changed by').selectOption({ label: 'API keys' });
      await entries.first().waitFor();
      expect(await page.locator('summary').getByText('Endpoint added').count()).toBe(await entries.count());
      await entries.first().locator('summary').click();
      await page.locator(`a[href="/endpoints/${id}"]`).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Show only these changes' }).click();
      await page.waitForURL(/actor=key_/);
      await page.reload();
      await entries.first().waitFor();
      await page.getByLabel('Environment').selectOption({ label: 'Sandbox' });
      await page.getByText('No change matches these filters').waitFor();
      expect(new URL(page.url()).searchParams.get('environment')).toBe('sandbox');
    });

    it('is shown page by page', async () => {
      const page = await dashboard.signedIn(ADMIN, '/settings');
      await page.route('**/api/settings/audit-log?*', async (route) => {
        const url = new URL(route.request().url());
        url.searchParams.set('limit', '1');
        await route.continue({ url: url.href });
      });
      await navigationOf(page).getByText('Audit log').click();
      const entries = page.locator('details');
      await entries.first().waitFor();
      expect(await entries.count()).toBe(1);
      await page.getByRole('button', { name: 'Show more' }).click();
      await entries.nth(1).waitFor();
    });

    it('is for admins: members see a note without a request', async () => {
      const page = await dashboard.signedIn(MEMBER, '/settings');
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await navigationOf(page).getByText('Audit log').click();
      await page.getByText('Only admins see the audit log').waitFor();
      expect(asked.filter((url) => url.includes('audit-log?'))).toEqual([]);
    });
  });

/** Shows an overview without the endpoints of other tests. @returns those that it shows, to be added to */
async function withoutEndpoints(page: Page): Promise<Set<string>> {
  const shown = new Set<string>();
  await page.route('**/api/settings/deliveries/stats*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    body.data.endpoints = body.data.endpoints.filter((row: { webhookId: string }) =>
      shown.has(row.webhookId),
    );
    await route.fulfill({ response, json: body });
  });
  return shown;
}

export const firstSteps = (dashboard: Dashboard) =>
  describe('the first steps', () => {
    it('tick themselves, the verification by a word of the user', async () => {
      const page = await dashboard.signedIn(ADMIN, '/settings');
      const shown = await withoutEndpoints(page);
      const step = (title: string) => page.getByRole('listitem').filter({ hasText: title });
      await navigationOf(page).getByText('Overview').click();
      await step('Add an endpoint').getByRole('link', { name: 'Add an endpoint' }).waitFor();
      await expectAccessible(page);
      const { id } = await aReceiverOwed(dashboard, WELL, 0);
      shown.add(id);
      await page.reload();
      await step('Add an endpoint').getByText(': Done').waitFor();
      await step('Send a test event').getByRole('link', { name: 'Send a test event' }).click();
      await page.waitForURL(`**/endpoints/${id}`);
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByText(/^Delivered in/).waitFor();
      await navigationOf(page).getByText('Overview').click();
      // Real events arrive, so the steps no longer stand above what they do.
      await page.getByText('Show the steps').click();
      await step('Send a test event').getByText(': Done').waitFor();
      await dashboard.service.api.post('/api/v1/conversations', {
        channelId: 'web',
        externalUserId: 'first-visitor',
      });
      await step('Go live').getByText(': Done').waitFor();
      await step('Verify the signature').getByText('My receiver verifies signatures').click();
      await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' });
    });

    it('stay hidden, once they are', async () => {
      const page = await dashboard.signedIn(ADMIN, '/settings');
      await withoutEndpoints(page);
      await navigationOf(page).getByText('Overview').click();
      await page.getByRole('button', { name: 'Hide', exact: true }).click();
      await page.getByText('No webhook endpoints yet').waitFor();
      await page.reload();
      await page.getByText('No webhook endpoints yet').waitFor();
      expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
    });

    it('are named to members, for an admin to do', async () => {
      const page = await dashboard.signedIn(MEMBER, '/settings');
      await withoutEndpoints(page);
      await navigationOf(page).getByText('Overview').click();
      await page.getByText('An admin of the organization does these steps.').waitFor();
      expect(await page.getByRole('main').getByRole('link').count()).toBe(0);
    });
  });

/** Checks for findings of axe that keep users out. */
async function expectNoGraveFindings(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const grave = violations.filter(({ impact }) => impact === 'critical' || impact === 'serious');
  expect(grave.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
}

export const reference = (dashboard: Dashboard) =>
  describe('the API reference', () => {
    const open = async () => {
      const page = await (await dashboard.context()).newPage();
      await page.goto(`${dashboard.origin}/api/docs`);
      return page;
    };

    it('leads to operations and events, with samples in the chosen language', async () => {
      const page = await open();
      const contents = page.getByRole('navigation', { name: 'Operations and events' });
      await contents.getByRole('link', { name: 'handoff.requested' }).click();
      await page.getByRole('heading', { name: 'A conversation was handed off' }).waitFor();
      await contents.getByLabel('Filter').fill('post webhooks test');
      expect(await contents.getByRole('listitem').filter({ visible: true }).count()).toBe(1);
      await contents.getByRole('link', { name: /^Send a test event/ }).click();
      const section = page.locator('section[aria-labelledby="testWebhook"]');
      await section.getByText('curl -X POST').waitFor();
      await section.getByRole('button', { name: 'Python' }).click();
      await section.getByText('requests.post(').waitFor();
      await section.getByText('curl -X POST').waitFor({ state: 'hidden' });
      await page.reload();
      await section.getByText('requests.post(').waitFor();
    });

    it.each(['light', 'dark'] as const)(
      'is accessible as a whole: %s',
      { timeout: 240_000 * PATIENCE },
      async (colorScheme) => {
        const page = await open();
        await page.emulateMedia({ colorScheme });
        await expectNoGraveFindings(page);
      },
    );

    it('fits a phone, where its contents are opened', async () => {
      const page = await open();
      await page.setViewportSize({ width: 360, height: 740 });
      const contents = page.getByRole('navigation', { name: 'Operations and events' });
      await contents.getByText('Contents').click();
      await contents.getByRole('link', { name: 'ticket.created' }).click();
      await page.getByRole('heading', { name: 'A ticket was created' }).waitFor();
      expect(await contents.getByRole('link', { name: 'ticket.created' }).isVisible()).toBe(false);
    });
  });
