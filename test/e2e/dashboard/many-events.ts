import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DynoxideDatabase } from 'aws-local/engines/dynoxide-database.ts';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { OrgId, ReceiverId } from '../../../functions/aws/ids.ts';
import { writeHistory } from '../../support/history.ts';
import { ADMIN, type Dashboard } from '../dashboard-fixture.ts';
import { eventDetail, eventRows, searchField } from './places.ts';
import { aReceiver, aReceiverOwed, WELL } from './receiving.ts';

const EVENTS = 100_000;
/** Pages that are followed. */
const FOLLOWED = 1000;
/** Rows that the page renders at most, of a list of any length. */
const MAX_RENDERED = 100;
const PATIENCE = { timeout: 240_000 };

/** The embedded engine's database of a run, with the names of two of its tables. */
function databaseOf({ service }: Dashboard) {
  const { directory } = service.run;
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const file = join(directory, names.find((path) => path.endsWith('dynamodb.sqlite')) ?? '');
  const database = DynoxideDatabase.openReadOnly(file);
  const tables = database.tables();
  database.close();
  const named = (part: string) => tables.find((name) => name.includes(`Tables${part}`)) ?? '';
  return { file, outbox: named('Outbox'), deliveries: named('Deliveries') };
}

async function scrollToEnd(page: Page): Promise<void> {
  await page.evaluate('window.scrollTo({ top: document.documentElement.scrollHeight })');
}

export const manyEvents = (dashboard: Dashboard) =>
  describe('a list of 100,000 events', () => {
    it('is read page by page, renders what is visible, and any of them is found', PATIENCE, async () => {
      const receiver = await aReceiver(dashboard, WELL);
      const { id } = await dashboard.service.api.register(receiver.url, ['conversation.created']);
      const { file, outbox, deliveries } = databaseOf(dashboard);
      const client = undefined as never;
      const events = writeHistory(
        file,
        { outbox: { client, name: outbox }, deliveries: { client, name: deliveries } },
        {
          orgId: OrgId.parse(dashboard.service.run.environment.ORG_ID),
          webhookId: ReceiverId.parse(id),
          count: EVENTS,
        },
      );
      const page = await dashboard.signedIn(ADMIN, '/events?type=conversation.created');
      await eventRows(page).first().waitFor();
      const position = async () =>
        Number(await page.locator('[aria-posinset]').last().getAttribute('aria-posinset'));
      await expect
        .poll(
          async () => {
            await scrollToEnd(page);
            return position();
          },
          { timeout: 120_000, interval: 50 },
        )
        .toBeGreaterThan(FOLLOWED);
      expect(await eventRows(page).count()).toBeLessThan(MAX_RENDERED);
      const oldest = events[0]?.id ?? '';
      await page.keyboard.press('Control+k');
      await searchField(page).fill(oldest);
      await page.waitForURL(`**/events/${oldest}`);
      await eventDetail(page).getByText('Succeeded').first().waitFor();
    });
  });

export const noEvents = (dashboard: Dashboard) =>
  describe('an organization without events', () => {
    it('is said to have none on every page of webhooks', async () => {
      const { ADMIN_TOKEN, BASE_URL } = dashboard.service.run.environment;
      const reset = await fetch(`${BASE_URL}/api/settings/sandbox/reset`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      expect(reset.status).toBe(200);
      const page = await dashboard.signedIn(ADMIN, '/sandbox/events');
      await page.getByText('No events', { exact: true }).waitFor();
      for (const path of ['overview', 'endpoints']) {
        await page.goto(`${dashboard.origin}/sandbox/${path}`);
        await page.getByText('No webhook endpoints yet').waitFor();
      }
      await page.goto(`${dashboard.origin}/sandbox/failures`);
      await page.getByText('No failures').waitFor();
    });
  });

export const reconnection = (dashboard: Dashboard) =>
  describe('events without a network', () => {
    it('stay readable, are said to be old, and go on by themselves when it is back', async () => {
      await aReceiverOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, '/events?type=ticket.created');
      await eventRows(page).first().waitFor();
      const before = await eventRows(page).count();
      await page.evaluate('window.isTheSame = true');
      await page.context().setOffline(true);
      await page.getByRole('alert').getByText('Live updates are interrupted').waitFor();
      expect(await eventRows(page).count()).toBe(before);
      await dashboard.service.api.post('/api/v1/tickets', {});
      await page.context().setOffline(false);
      await eventRows(page).nth(before).waitFor();
      await page.getByRole('alert').waitFor({ state: 'detached' });
      expect(await page.evaluate('window.isTheSame')).toBe(true);
    });
  });
