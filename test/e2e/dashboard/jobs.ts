import { until } from 'aws-local/test/until.ts';
import type { Locator, Page, Route } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pageOf, paragraph, startPage } from '../../integration/service/background/page.ts';
import { mailsIn } from '../../support/mails.ts';
import { ADMIN, type Dashboard } from '../dashboard-fixture.ts';
import { eventRows, navigationOf, searchField, tabTo } from './places.ts';
import { aConversation, aDisabledReceiver, aReceiver, aReceiverOwed, DOWN, WELL } from './receiving.ts';

type Find = (page: Page) => Locator;

/** A step of a job: something is pressed or typed, and the page shows the next thing. */
type Step = { shows: Find } & ({ press: Find } | { type: string; into: Find });

/** A job with its data. */
interface Task {
  /** Where it begins: the overview, or what an e-mail links to. */
  from?: string;
  steps: readonly Step[];
  /** Asserts what the job was for. */
  expectDone?: () => Promise<unknown>;
}

interface Job {
  name: string;
  /** @param outage events that a receiver missed, where the job is about an outage */
  prepare: (dashboard: Dashboard, outage: number) => Promise<Task>;
  /** Presses of Tab, Enter and the space bar at most. */
  keys: number;
}

const OUTAGE = 360;
const SHORT_OUTAGE = 10;
const PATIENCE = { timeout: 400_000 };
/** A job resends a few events in a second. */
const RESENDING_MS = 180_000;

/** What a dialog does not cover. */
const uncovered = (target: Locator): Locator => target.and(target.page().locator(':not([inert] *)'));
const button =
  (name: string | RegExp): Find =>
  (page) =>
    uncovered(page.getByRole('button', { name, exact: true }));
const text =
  (shown: string | RegExp): Find =>
  (page) =>
    page.getByText(shown, typeof shown === 'string' ? { exact: true } : {}).first();
const link =
  (href: string): Find =>
  (page) =>
    page.locator(`main a[href="${href}"]`).first();
const place =
  (name: string): Find =>
  (page) =>
    navigationOf(page).getByRole('link', { name, exact: true });
const field =
  (label: string | RegExp): Find =>
  (page) =>
    uncovered(page.getByLabel(label));
const KEPT = field(/^I have stored it/);
const DONE = button('Done');

/** What users do, and what tells them that it is done. */
const JOBS: readonly Job[] = [
  {
    name: 'finds out why an endpoint did not get an event',
    keys: 45,
    async prepare(dashboard) {
      const { id } = await aReceiverOwed(dashboard, DOWN, 1);
      const row: Find = (page) => page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first();
      return {
        steps: [
          { press: link(`/deliveries/${id}?status=failed`), shows: row },
          { press: row, shows: text(String(DOWN.body)) },
        ],
      };
    },
  },
  {
    name: 'recovers an endpoint after an outage',
    keys: 70,
    async prepare(dashboard, outage) {
      const receiver = await aDisabledReceiver(dashboard, outage);
      const { api } = dashboard.service;
      onTestFinished(async () => {
        for (const { id, url } of await api.all('/api/v1/webhooks'))
          if (url === receiver.url) await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
      });
      const missed = (await dashboard.service.deliveries(receiver.id)).map(({ eventId }) => eventId);
      expect(missed).toHaveLength(outage);
      const before = receiver.received.length;
      receiver.become(WELL);
      const remove = button('Delete the old endpoint');
      return {
        steps: [
          { press: link(`/endpoints/${receiver.id}/recover`), shows: button('Register again') },
          { press: button('Register again'), shows: text(/^whsec_/) },
          { press: KEPT, shows: DONE },
          { press: DONE, shows: text(/^\d+ events resent\. The new endpoint receives all events\.$/) },
          { press: remove, shows: (page) => page.getByRole('alertdialog') },
          {
            press: remove,
            shows: (page) =>
              page.getByRole('listitem').filter({ hasText: '3. Delete' }).getByText('Done', { exact: true }),
          },
        ],
        async expectDone() {
          const arrived = receiver.received.slice(before).map(({ headers }) => headers['webhook-id']);
          expect(missed.filter((id) => !arrived.includes(String(id)))).toEqual([]);
          expect(new Set(arrived).size).toBe(arrived.length);
          expect((await api.get(`/api/v1/webhooks/${receiver.id}`)).status).toBe(404);
        },
      };
    },
  },
  {
    name: 'finds what happened in a conversation',
    keys: 15,
    async prepare(dashboard) {
      const { id } = await aConversation(dashboard);
      return {
        steps: [
          { press: button(/^Search/), shows: searchField },
          { type: id, into: searchField, shows: (page) => eventRows(page).nth(1) },
        ],
      };
    },
  },
  {
    name: 'registers an endpoint, and sees a test event arrive',
    keys: 110,
    async prepare(dashboard) {
      const receiver = await aReceiver(dashboard, WELL);
      return {
        steps: [
          { press: link('/endpoints?add'), shows: field('Endpoint URL') },
          { type: receiver.url, into: field('Endpoint URL'), shows: button('Add the endpoint') },
          { press: button('Add the endpoint'), shows: text(/^whsec_/) },
          { press: KEPT, shows: button('Send a test event') },
          { press: button('Send a test event'), shows: text(/^Delivered in/) },
          { press: DONE, shows: (page) => page.getByRole('heading', { name: 'Health' }) },
        ],
        expectDone: async () => expect(receiver.received).toHaveLength(1),
      };
    },
  },
  {
    name: 'creates an API key',
    keys: 60,
    async prepare() {
      const name = `Key ${crypto.randomUUID()}`;
      const create = button('Create a key');
      return {
        steps: [
          { press: place('API keys'), shows: create },
          { press: create, shows: field('Name') },
          { type: name, into: field('Name'), shows: create },
          { press: field(/^Read conversations/), shows: create },
          { press: create, shows: text(/^ck_live_/) },
          { press: KEPT, shows: DONE },
          { press: DONE, shows: (page) => page.getByRole('row').filter({ hasText: name }) },
        ],
      };
    },
  },
  {
    name: 'finds out why an e-mail was sent',
    keys: 40,
    async prepare(dashboard) {
      const { source, from } = await aChangedSource(dashboard);
      onTestFinished(async () => {
        await dashboard.service.api.call({ method: 'DELETE', path: source });
      });
      return {
        from,
        steps: [{ press: link('/settings'), shows: (page) => page.getByLabel(/^Threshold/) }],
      };
    },
  },
  {
    name: 'resets the sandbox',
    keys: 50,
    async prepare() {
      const typed = field('Type the name of the organization to confirm');
      return {
        steps: [
          { press: place('Sandbox'), shows: button('Reset') },
          { press: button('Reset'), shows: typed },
          { type: 'Local organization', into: typed, shows: button('Reset the sandbox') },
          { press: button('Reset the sandbox'), shows: text(/^Hidden, and being deleted/) },
        ],
      };
    },
  },
];

/** A source whose admins were e-mailed about a change. @returns its path, and that of the e-mail's link */
async function aChangedSource({ service, origin }: Dashboard): Promise<{ source: string; from: string }> {
  const page = await startPage(service.run.tls, pageOf(paragraph('first'), paragraph('second')));
  onTestFinished(page.stop);
  const { body } = await service.api.post('/api/v1/knowledge/sources', { kind: 'url', url: page.url });
  const source = `/api/v1/knowledge/sources/${body.data?.id}`;
  const isAt = (version: number) =>
    until(`version ${version}`, async () => (await service.api.get(source)).body.data?.version === version);
  await isAt(1);
  page.set(pageOf(paragraph('fresh'), paragraph('second')));
  await service.api.post(`${source}/sync`);
  await isAt(2);
  const path = `/sources/${body.data?.id}`;
  const mail = await until('the e-mail', async () =>
    (await mailsIn(service.run.directory)).find(({ text }) => text.includes(`${origin}${path}`)),
  );
  expect(mail.text).toContain('fresh0');
  return { source, from: path };
}

/** Takes a step by keyboard alone. @returns the number of pressed keys, without what is typed */
async function takeByKeyboard(page: Page, step: Step): Promise<number> {
  const target = 'press' in step ? step.press(page) : step.into(page);
  const tabs = await tabTo(page, target);
  if ('type' in step) {
    await page.keyboard.type(step.type);
    return tabs;
  }
  await page.keyboard.press((await target.getAttribute('type')) === 'checkbox' ? 'Space' : 'Enter');
  return tabs + 1;
}

async function take(page: Page, step: Step): Promise<void> {
  if ('type' in step) await step.into(page).fill(step.type);
  // A checkbox is under its label.
  else await step.press(page).click({ force: true });
}

/** Answers of an API that is stopped. */
const STOPPED: readonly ((route: Route) => Promise<void>)[] = [
  (route) => route.abort('connectionrefused'),
  (route) =>
    route.fulfill({
      status: 503,
      headers: { 'retry-after': '1' },
      json: { success: false, error: { type: 'SERVICE_UNAVAILABLE', message: 'down', requestId: 'req_1' } },
    }),
];
const API = /\/api\/(settings|session|v1)\b/;
const SAID = /The service cannot be reached\.|The service is busy\./;

/** What is typed or chosen on a page. */
const inputsOf = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('input, textarea')]
    .filter((input) => input.type === 'checkbox' ? input.checked && input.name !== '' : input.value !== '')
    .map((input) => input.value)`);

/** Takes a step while the API is stopped in each way, and goes on with what the page offers. */
async function takeWithoutApi(page: Page, step: Step): Promise<void> {
  const again = button('Try again')(page).first();
  const said = uncovered(page.getByRole('alert').getByText(SAID)).first();
  const target = 'press' in step ? step.press(page) : step.into(page);
  const next = async () => {
    if (await again.isVisible()) await again.click();
    else if (await target.isVisible()) await take(page, step);
  };
  await target.waitFor();
  for (const stop of STOPPED) {
    await page.route(API, stop);
    await next();
    const typed = await inputsOf(page);
    await step.shows(page).or(said).first().waitFor();
    expect(await inputsOf(page)).toEqual(expect.arrayContaining(typed));
    await page.unroute(API, stop);
    // Some steps need no answer.
    if (await step.shows(page).isVisible()) return;
  }
  await until(
    'the job to go on',
    async () => {
      if (await step.shows(page).isVisible()) return true;
      await next();
      return step
        .shows(page)
        .waitFor({ timeout: 5000 })
        .then(() => true)
        .catch(() => false);
    },
    RESENDING_MS,
  );
}

export const jobs = (dashboard: Dashboard) =>
  describe('an admin', () => {
    it.each(JOBS)('$name, although the API stops at every step', PATIENCE, async ({ prepare }) => {
      const { from = '/', steps, expectDone } = await prepare(dashboard, SHORT_OUTAGE);
      const page = await dashboard.signedIn(ADMIN, from);
      for (const step of steps) await takeWithoutApi(page, step);
      await page.getByRole('alert').getByText(SAID).first().waitFor({ state: 'detached' });
      await expectDone?.();
    });

    it.for(JOBS)('$name, by keyboard alone', PATIENCE, async ({ prepare, keys: most }, { annotate }) => {
      const { from = '/', steps, expectDone } = await prepare(dashboard, OUTAGE);
      const page = await dashboard.signedIn(ADMIN, from);
      const start = performance.now();
      let keys = 0;
      for (const step of steps) {
        keys += await takeByKeyboard(page, step);
        await step.shows(page).waitFor({ timeout: RESENDING_MS });
      }
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const clicks = steps.filter((step) => 'press' in step).length;
      await annotate(`clicks: ${clicks}, keys: ${keys}, seconds by keyboard: ${seconds}`);
      await expectDone?.();
      expect(keys).toBeLessThanOrEqual(most);
    });
  });
