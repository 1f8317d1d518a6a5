import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { aService } from '../integration/service/a-service.ts';
import { findChromium, launch, type Misdeeds, watched } from './browser.ts';

export const chromium = findChromium();

export const ADMIN = 'admin@local.test';
export const MEMBER = 'member@local.test';
const PASSWORD = 'local-run';

/** How long a page may take for what a test waits for: a guard, and no measure. */
const PATIENCE_MS = 20_000;

/**
 * The dashboard of a local run, in a browser, for the tests of this file. @param settings of the local run
 */
export function aDashboard(settings: Record<string, string>) {
  const service = aService(settings);
  let browser: Browser | undefined;
  const opened: Misdeeds[] = [];
  const sessions = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();
  const origin = () => new URL(service.run.environment.BASE_URL).origin;

  beforeAll(async () => {
    if (chromium !== undefined) browser = await launch(chromium);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
  });

  /**
   * A browser of its own, in which nobody is signed in. Whatever its pages do that none should do fails the
   * test that asks.
   */
  async function context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    if (browser === undefined) throw new Error('there is no browser');
    const made = await browser.newContext({ locale: 'en', ...options });
    made.setDefaultTimeout(PATIENCE_MS);
    // Its pages ask for what is new as long as they are open.
    onTestFinished(() => made.close());
    opened.push(watched(made, origin()));
    return made;
  }

  return {
    service,
    context,
    get origin() {
      return origin();
    },

    /** A page in a browser of its own, after a sign-in by the form of the identity provider. */
    async signingIn(email: string, path = '/', options: BrowserContextOptions = {}): Promise<Page> {
      const page = await (await context(options)).newPage();
      await page.goto(`${origin()}${path}`);
      await signIn(page, email);
      return page;
    },

    /** A page in a browser of its own that still has the session of somebody's first sign-in. */
    async signedIn(email: string, path = '/', options: BrowserContextOptions = {}): Promise<Page> {
      const storageState = sessions.get(email);
      if (storageState === undefined) {
        const page = await this.signingIn(email, path, options);
        sessions.set(email, await page.context().storageState());
        return page;
      }
      const page = await (await context({ ...options, storageState })).newPage();
      await page.goto(`${origin()}${path}`);
      try {
        await page.getByRole('navigation', { name: PAGES_ARE_THERE }).waitFor();
      } catch (cause) {
        const shown = await page.locator('body').innerText();
        const failed = opened.at(-1)?.failed.join('\n');
        throw new Error(`nobody is signed in at ${path}, which shows:\n${shown}\n${failed}`, { cause });
      }
      return page;
    },

    /**
     * That no page asked another origin for anything, threw, or tried what the content security policy
     * forbids.
     */
    expectNoMisdeeds() {
      expect(opened.flatMap(({ foreign }) => foreign)).toEqual([]);
      expect(opened.flatMap(({ errors }) => errors)).toEqual([]);
    },
  };
}
export type Dashboard = ReturnType<typeof aDashboard>;

/** What is on every page of somebody who is signed in, on the smallest telephone too. */
const PAGES_ARE_THERE = /^(What is shown|Was angezeigt wird)$/;

/** From the way in of the dashboard through the provider's form, and back to where one wanted to go. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).click();
  await fillIn(page, email);
  await page.getByRole('navigation', { name: PAGES_ARE_THERE }).waitFor();
}

/** Says at the provider's form who one is. */
export async function fillIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
