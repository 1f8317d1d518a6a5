import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expectAccessible, expectToFit } from '../browser.ts';
import { expectNoFaults } from './faults.ts';

/** Screenshots of every page, for review. */
const PICTURES = join(import.meta.dirname, '../screenshots');

/** Both layouts in both themes, what is between them, the smallest phone, and the largest screen. */
const WINDOWS = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 900 },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 900 },
  { name: 'small-light', colorScheme: 'light', width: 390, height: 844 },
  { name: 'small-dark', colorScheme: 'dark', width: 390, height: 844 },
  { name: 'medium-light', colorScheme: 'light', width: 768, height: 1024 },
  { name: 'medium-dark', colorScheme: 'dark', width: 768, height: 1024 },
  { name: 'smallest', colorScheme: 'light', width: 360, height: 740 },
  { name: 'large', colorScheme: 'light', width: 3840, height: 2160 },
] as const;
/** Both layouts in both themes: axe runs in these. */
export const EXAMINED_WINDOWS: readonly (typeof WINDOWS)[number][] = WINDOWS.slice(0, 4);
export const SMALL_WINDOWS = WINDOWS.filter(({ width }) => width === 390);
export const LOOKING = { timeout: 900_000 };

/**
 * Checks a page in every window: takes a screenshot, and checks its width and accessibility.
 * @param fullPage whether the screenshot shows all of it; a dialog covers only the visible part
 */
export async function look(
  page: Page,
  called: string,
  fullPage = true,
  windows: readonly (typeof WINDOWS)[number][] = WINDOWS,
): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const isGerman = (await page.evaluate('document.documentElement.lang')) === 'de';
  for (const window of windows) {
    const { name, colorScheme, width, height } = window;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await page.screenshot({ path: join(PICTURES, `${called}-${name}.png`), fullPage });
    if (EXAMINED_WINDOWS.includes(window)) await expectAccessible(page);
    await expectToFit(page);
    await expectNoFaults(page, isGerman, `${called}-${name}`);
  }
}

/** Waits until a page has loaded its content. */
export async function shown(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page
    .getByRole('status', { name: /^(Loading|Wird geladen)$/ })
    .first()
    .waitFor({ state: 'detached' });
}

/** Navigates to a path as a link of the application does. */
export async function go(page: Page, path: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await shown(page);
}
