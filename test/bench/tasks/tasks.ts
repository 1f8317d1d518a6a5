import type { Page } from 'playwright-core';
import { ADMIN } from '../../e2e/a-dashboard.ts';
import {
  causesOf,
  eventDetail,
  eventRows,
  makeYesterday,
  navigationOf,
  searchField,
} from '../../e2e/dashboard/places.ts';
import type { Stage } from './stage.ts';
import type { User } from './user.ts';

/** A task of an integrator, from the overview to the visible answer. */
export interface Task {
  name: string;
  /** What a run needs before it is timed. @param round counted from 0 */
  prepare?(page: Page, stage: Stage, round: number): Promise<unknown>;
  perform(user: User, stage: Stage, round: number): Promise<unknown>;
  /** Removes what a run added. */
  clean?(stage: Stage): Promise<unknown>;
}

/** Newer failures than the event X of a run. */
const NEWER = 20;
const TYPES = ['conversation.created', 'message.received', 'ticket.created'];

/** The event X of a run, the same for all tasks. */
const failedIn = ({ failed }: Stage, round: number) => failed[NEWER + round] ?? failOf('events that failed');

function failOf(what: string): never {
  throw new Error(`the organization has too few ${what}: more --events`);
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function find(user: User, id: string): Promise<void> {
  await user.press('Control+k');
  await user.paste(searchField(user.page), id);
}

/** The one-time display of a secret. */
async function keepSecret(user: User): Promise<void> {
  const dialog = user.page.getByRole('dialog');
  await user.click(dialog.getByText('I have stored it in a safe place'));
  await user.click(dialog.getByRole('button', { name: 'Done' }));
}

async function remove({ api, url }: Stage): Promise<void> {
  for (const endpoint of await api.all('/api/v1/webhooks'))
    if (endpoint.url === url) await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${endpoint.id}` });
}

export const TASKS: readonly Task[] = [
  {
    name: 'Why did event X not arrive?',
    async perform(user, stage, round) {
      await find(user, failedIn(stage, round).eventId);
      await eventDetail(user.page).getByText('Response 500', { exact: true }).first().waitFor();
      await eventDetail(user.page).getByText('the database is down').first().waitFor();
    },
  },
  {
    name: 'Its payload',
    async perform(user, stage, round) {
      const { eventId } = failedIn(stage, round);
      await find(user, eventId);
      await user.click(eventDetail(user.page).getByRole('tab', { name: 'Payload' }));
      await eventDetail(user.page).locator('pre', { hasText: '"ticket.created"' }).waitFor();
    },
  },
  {
    name: 'Resend it',
    async perform(user, stage, round) {
      await find(user, failedIn(stage, round).eventId);
      await user.click(eventDetail(user.page).getByRole('button', { name: 'Resend' }).first());
      await eventDetail(user.page).getByRole('status').getByText('Succeeded').waitFor();
    },
  },
  {
    name: 'Recover an endpoint after an outage',
    async perform(user, { disabledIds }, round) {
      const { page } = user;
      await user.click(page.locator(`a[href="/endpoints/${disabledIds[round]}/recover"]`));
      await button(page, 'Register again').waitFor();
      user.isThere();
      await user.click(button(page, 'Register again'));
      await keepSecret(user);
      await user.click(button(page, 'Count'));
      await user.click(page.getByRole('button', { name: /^Resend \d+ events$/ }));
      await user.click(button(page, 'Delete the old endpoint'));
      await user.click(
        page.getByRole('alertdialog').getByRole('button', { name: 'Delete the old endpoint' }),
      );
      await page.getByText('Recovered', { exact: true }).waitFor();
    },
  },
  {
    name: 'All failures of one cause',
    async perform(user) {
      await user.click(user.page.getByRole('link', { name: 'Failures by cause' }));
      const group = causesOf(user.page).filter({ hasText: 'the database is down' });
      await group.getByText(/^\d+ ×$/).waitFor();
    },
  },
  {
    name: 'Add an endpoint for three types',
    async perform(user, { url }) {
      const { page } = user;
      await user.click(navigationOf(page).getByText('Endpoints'));
      await user.click(button(page, 'Add an endpoint'));
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Endpoint URL').waitFor();
      user.isThere();
      await user.paste(dialog.getByLabel('Endpoint URL'), url);
      for (const type of TYPES) await user.click(dialog.getByText(type, { exact: true }));
      await user.click(dialog.getByRole('button', { name: 'Add the endpoint' }));
      await dialog.getByText(/^whsec_/).waitFor();
    },
    clean: remove,
  },
  {
    name: 'Rotate to a new endpoint',
    prepare: (page, { api, url, origin }) =>
      api.register(url, ['ticket.created']).then(() => page.goto(`${origin}/`)),
    async perform(user, { url }) {
      const { page } = user;
      const row = page.getByRole('row').filter({ hasText: '/added' });
      await user.click(row.getByRole('link').first());
      await user.click(button(page, 'Replace'));
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Endpoint URL').waitFor();
      user.isThere();
      await user.click(dialog.getByRole('button', { name: 'Add the endpoint' }));
      await dialog.getByText(/^whsec_/).waitFor();
      await keepSecret(user);
      await user.click(button(page, 'Delete'));
      const confirm = page.getByRole('alertdialog');
      await user.paste(confirm.getByRole('textbox'), url);
      await user.click(confirm.getByRole('button', { name: 'Delete the endpoint' }));
      await page.waitForURL('**/endpoints');
      await page.getByRole('main').getByRole('link').filter({ hasText: '/added' }).waitFor();
    },
    clean: remove,
  },
  {
    name: 'Find a conversation’s events',
    async perform(user, { conversationId }) {
      await find(user, conversationId);
      await user.page.waitForURL('**/events?conversation=*');
      await eventRows(user.page).filter({ hasText: 'message.received' }).waitFor();
      await eventRows(user.page).filter({ hasText: 'conversation.created' }).waitFor();
    },
  },
  {
    name: 'Make and revoke a key',
    async perform(user, _stage, round) {
      const { page } = user;
      await user.click(navigationOf(page).getByText('API keys'));
      await user.click(button(page, 'Create a key'));
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').waitFor();
      user.isThere();
      await user.paste(dialog.getByLabel('Name'), `Night job ${round}`);
      await user.click(dialog.getByText(/^Read conversations/));
      await user.click(dialog.getByRole('button', { name: 'Create a key' }));
      await keepSecret(user);
      const row = page.getByRole('row').filter({ hasText: `Night job ${round}` });
      await user.click(row.getByRole('button', { name: /^Revoke/ }));
      await user.click(page.getByRole('alertdialog').getByRole('button', { name: 'Revoke the key' }));
      await row.waitFor({ state: 'hidden' });
    },
  },
  {
    name: 'What changed yesterday, and by whom?',
    prepare: async (page, { admin }, round) => {
      await makeYesterday(page);
      const scopes = ['read:webhooks'];
      await admin.post('/api/settings/api-keys', { name: `Report ${round}`, scopes });
    },
    async perform(user, _stage, round) {
      const { page } = user;
      await user.click(navigationOf(page).getByText('Audit log'));
      await user.choose(page.getByLabel('Time'), 'Yesterday');
      const entry = page.locator('details').filter({ hasText: `Report ${round}` });
      await entry.locator('summary').getByText(ADMIN).waitFor();
      await user.click(entry.locator('summary'));
      await entry.getByRole('row').filter({ hasText: 'scopes' }).getByText('read:webhooks').waitFor();
    },
  },
];
