import { accessSync, constants } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** The path of Chromium on Debian and its derivatives, when `CHROMIUM` is not set. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const isThere = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The browser of the tests; undefined with a warning where there is none. */
export function findChromium(): string | undefined {
  const { CHROMIUM: given } = process.env;
  if (given) {
    if (!isThere(given)) throw new Error(`CHROMIUM=${given} is no program`);
    return given;
  }
  const place = PLACES.find(isThere);
  if (place === undefined)
    process.stderr.write(
      `\n${'!'.repeat(100)}\n!!! THE DASHBOARD IS NOT TESTED: there is no Chromium here. Install the package chromium, or set CHROMIUM=/path/to/it.\n${'!'.repeat(100)}\n\n`,
    );
  return place;
}

/**
 * Features of Chromium that are off: those that Playwright turns off, because the last of these switches
 * counts alone, the suggestions of the address bar, which take a process for each window, and the process
 * that is started before a page needs it.
 */
const DISABLED_FEATURES = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'SpareRendererForSitePerProcess',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

/**
 * Without a GPU process, which would only emulate a GPU.
 * @param executablePath from {@link findChromium}
 */
export const launch = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-software-rasterizer',
      `--disable-features=${DISABLED_FEATURES}`,
    ],
  });

/** Errors of a page. */
export interface Misdeeds {
  /** Requests to other origins. */
  foreign: string[];
  /** Exceptions, and violations of the content security policy. */
  errors: string[];
  /** Failed requests, to explain missing content. */
  failed: string[];
}

/**
 * Records errors of the dashboard's pages in a context.
 * @param own their origin, the only permitted one
 */
export function watched(context: BrowserContext, own: string): Misdeeds {
  const misdeeds: Misdeeds = { foreign: [], errors: [], failed: [] };
  context.on('request', (request) => {
    // The user may navigate elsewhere, for example to the identity provider.
    if (request.isNavigationRequest() || !request.frame().url().startsWith(`${own}/`)) return;
    const { origin } = new URL(request.url());
    if (origin !== own) misdeeds.foreign.push(request.url());
  });
  context.on('requestfailed', (request) =>
    misdeeds.failed.push(`${request.url()}: ${request.failure()?.errorText}`),
  );
  context.on('weberror', (error) => misdeeds.errors.push(error.error().message));
  context.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Trusted ?Types?/i.test(message.text()))
      misdeeds.errors.push(message.text());
  });
  return misdeeds;
}

/** WCAG 2.2 A and AA, and axe's best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const lines = violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map(({ target, html }) => `  ${target.join(' ')}\n  ${html}`).join('\n')}`,
  );
  expect(lines.join('\n'), lines.length === 0 ? '' : await outlineOf(page)).toBe('');
}

/** A page's address and what its body consists of, because dialogs hide the rest of it and may be hidden. */
const outlineOf = async (page: Page): Promise<string> => {
  const parts = await page.evaluate<string>(`[...document.body.children]
    .map((part) => {
      const { x, y, width, height } = part.getBoundingClientRect();
      const shown = part.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      return [part.cloneNode().outerHTML, shown ? 'shown' : 'not shown', x, y, width, height, part.innerText.slice(0, 80)].join(' ');
    })
    .join('\\n')`);
  return `${page.url()}\n${parts}`;
};

/** Whether a page fits its width, without horizontal scrolling. */
export async function expectToFit(page: Page): Promise<void> {
  const beyond = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(beyond, `${page.url()} is wider than its window`).toBeLessThanOrEqual(0);
}
