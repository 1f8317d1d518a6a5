import type { Locator, Page } from 'playwright-core';

/* Places of the dashboard's pages. */

export const navigationOf = (page: Page): Locator => page.getByRole('navigation', { name: 'Pages' });
export const eventRows = (page: Page): Locator =>
  page.getByRole('list', { name: 'Events', exact: true }).getByRole('link');
export const eventDetail = (page: Page): Locator => page.getByRole('region', { name: 'Event' });
export const searchField = (page: Page): Locator => page.getByRole('combobox', { name: /^Search by ID/ });

const DAY_MS = 24 * 3_600_000;

/** Shows the audit log of today as that of yesterday: nothing in a local run is a day old. */
export const makeYesterday = (page: Page): Promise<unknown> =>
  page.route('**/api/settings/audit-log?*', async (route) => {
    const url = new URL(route.request().url());
    for (const name of ['from', 'to']) {
      const time = url.searchParams.get(name);
      if (time !== null) url.searchParams.set(name, new Date(Date.parse(time) + DAY_MS).toISOString());
    }
    const response = await route.fetch({ url: url.href });
    const body = await response.json();
    for (const entry of body.data)
      entry.createdAt = new Date(Date.parse(entry.createdAt) - DAY_MS).toISOString();
    await route.fulfill({ response, json: body });
  });

/** Elements that the keyboard passes on a page at most. */
const MAX_TABS = 80;

/** Presses Tab until an element has the focus. @returns the number of presses */
export async function tabTo(page: Page, target: Locator): Promise<number> {
  await target.waitFor();
  for (let pressed = 0; pressed < MAX_TABS; pressed += 1) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return pressed;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${target}`);
}
