import { PATIENCE } from 'aws-local/test/patience.ts';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { aService, type LocalService } from '../integration/service/a-service.ts';
import { findChromium, launch, type Misdeeds, watched } from './browser.ts';

export const chromium = findChromium();

export const ADMIN = 'admin@local.test';
export const MEMBER = 'member@local.test';
const PASSWORD = 'local-run';

/**
 * A time zone where it is between 10 and 11 in the evening. Its times of day are the longest, so a test finds
 * at any hour what is too narrow for them.
 */
function zoneOfLongTimes(): string {
  const ahead = 22 - new Date().getUTCHours();
  const offset = ahead > 14 ? ahead - 24 : ahead;
  // Zones of this kind count the hours behind Greenwich.
  return `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

/** The timeout for a page, to bound the test; no measure of speed. */
const PATIENCE_MS = 20_000;

/** Settings of a local run without waits between attempts. */
export const WITHOUT_WAITS = { RETRY_BASE_SECONDS: '0', RETRY_CAP_SECONDS: '0' };

/**
 * The dashboard of a local run, in a browser, for the tests of this file.
 * @param service by default a local run without waits between attempts
 * @param settings.sharesContexts whether the tests use the pages of a user one after another, in one browser
 * context: a new page starts a process and compiles the dashboard. For tests that leave the cookies and the
 * local storage as they are
 */
export function aDashboard(
  service: LocalService = aService(WITHOUT_WAITS),
  { sharesContexts = false }: { sharesContexts?: boolean } = {},
) {
  let browser: Browser | undefined;
  const opened: Misdeeds[] = [];
  const sessions = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();
  const shared = new Map<string, BrowserContext>();
  const unused = new Map<string, Page[]>();
  const origin = () => new URL(service.run.environment.BASE_URL).origin;

  beforeAll(async () => {
    if (chromium !== undefined) browser = await launch(chromium);
  }, 60_000 * PATIENCE);
  afterAll(async () => {
    await browser?.close();
  });

  /** A new browser without a session, whose pages are recorded for `expectNoMisdeeds`. */
  async function context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const made = await newContext(options);
    // Its pages poll as long as they are open.
    onTestFinished(() => made.close());
    return made;
  }

  async function newContext(options: BrowserContextOptions): Promise<BrowserContext> {
    if (browser === undefined) throw new Error('there is no browser');
    // Clicks wait until what they click on no longer moves.
    const made = await browser.newContext({
      locale: 'en',
      reducedMotion: 'reduce',
      timezoneId: zoneOfLongTimes(),
      ...options,
    });
    made.setDefaultTimeout(PATIENCE_MS);
    opened.push(watched(made, origin()));
    return made;
  }

  /** A page with the user's cookies, in a browser of its own unless contexts are shared. */
  async function pageOf(
    email: string,
    storageState: Awaited<ReturnType<BrowserContext['storageState']>> | undefined,
    options: BrowserContextOptions,
  ): Promise<Page> {
    if (!sharesContexts || Object.keys(options).length > 0)
      return (await context({ ...options, ...(storageState && { storageState }) })).newPage();
    const cached = shared.get(email) ?? (await newContext(storageState ? { storageState } : {}));
    shared.set(email, cached);
    const pages = unused.get(email) ?? [];
    unused.set(email, pages);
    const page = pages.pop() ?? (await cached.newPage());
    onTestFinished(async () => {
      await leave(page);
      pages.push(page);
    });
    return page;
  }

  /** Leaves a page as a new one is: without routes or a session storage, and without requests of its own. */
  async function leave(page: Page): Promise<void> {
    await page.unrouteAll({ behavior: 'wait' });
    // A text of the dashboard's origin, so that the next page is in the same process.
    await page.goto(`${origin()}/robots.txt`);
    await page.evaluate('sessionStorage.clear()');
  }

  return {
    service,
    context,
    get origin() {
      return origin();
    },

    /** A page in a new browser, after a sign-in with the identity provider's form. */
    async signingIn(email: string, path = '/', options: BrowserContextOptions = {}): Promise<Page> {
      const page = await (await context(options)).newPage();
      await page.goto(`${origin()}${path}`);
      await signIn(page, email);
      return page;
    },

    /** A page with the session of the user's first sign-in, in a new browser unless contexts are shared. */
    async signedIn(email: string, path = '/', options: BrowserContextOptions = {}): Promise<Page> {
      const storageState = sessions.get(email);
      const page = await pageOf(email, storageState, options);
      await page.goto(`${origin()}${path}`);
      if (storageState === undefined) {
        await signIn(page, email);
        sessions.set(email, await page.context().storageState());
        return page;
      }
      try {
        await page.getByRole('navigation', { name: PAGES_ARE_THERE }).waitFor();
      } catch (cause) {
        const shown = await page.locator('body').innerText();
        const failed = opened.at(-1)?.failed.join('\n');
        throw new Error(`no user is signed in at ${path}, which shows:\n${shown}\n${failed}`, { cause });
      }
      return page;
    },

    /** Asserts that no page requested another origin, threw, or violated the content security policy. */
    expectNoMisdeeds() {
      expect(opened.flatMap(({ foreign }) => foreign)).toEqual([]);
      expect(opened.flatMap(({ errors }) => errors)).toEqual([]);
    },
  };
}
export type Dashboard = ReturnType<typeof aDashboard>;

/** How much of a suite runs: only what most users do, or everything. */
export interface Extent {
  isWhole: boolean;
}

/** Elements of every page of a signed-in user, on the smallest phone too. */
const PAGES_ARE_THERE = /^(What is shown|Was angezeigt wird)$/;

/**
 * Signs in from the dashboard's sign-in page through the provider's form, and returns to the requested page.
 */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).click();
  await fillIn(page, email);
  await page.getByRole('navigation', { name: PAGES_ARE_THERE }).waitFor();
}

/** Fills in the provider's form. */
export async function fillIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
