import { join } from 'node:path';
import { styleText } from 'node:util';
import { until } from 'aws-local/test/until.ts';
import type { Browser, Page } from 'playwright-core';
import { commandLine, decimal, wholeNumber } from 'terminal/command-line.ts';
import { OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import { startReceiver } from '../../packages/cli/src/receiver/receiver.ts';
import { ADMIN, signIn } from '../e2e/a-dashboard.ts';
import { findChromium, launch } from '../e2e/browser.ts';
import { apiClient } from '../support/api.ts';
import { startLocalRun, temporaryDirectory } from '../support/local-run.ts';
import { writeHistory } from './dashboard/history.ts';
import { describeMachine, loadOfMinute } from './measure/machine.ts';
import { openLoop, wallClock } from './measure/open-loop.ts';
import { startRunEngines } from './run-engines.ts';

/* The speed of the dashboard for a user: the local run, and a real browser on the same machine. */
const {
  rate: RATE,
  seconds: SECONDS,
  rows: ROWS,
  runs: RUNS,
} = commandLine(
  'npm run bench -- dashboard',
  'Starts the local run and Chromium, signs in, and measures how fast the dashboard is.',
)
  .option('--rate <n>', 'deliveries in a second', decimal(0.01, 10_000), 50)
  .option('--seconds <n>', 'for which they come', wholeNumber(1, 100_000), 30)
  .option('--rows <n>', 'deliveries and events of the long lists', wholeNumber(1, 10_000_000), 100_000)
  .option('--runs <n>', 'loads of each page', wholeNumber(1, 1000), 7)
  .addHelpText(
    'after',
    `
Measurements:
  loads   largest contentful paint of the overview and of lists of events and of deliveries, with nothing cached,
          and with the cache
  live    --rate deliveries a second for --seconds: how long each took from its creation into the page, and tasks of
          the page's thread over 50 ms
  long    lists of --rows deliveries and events, followed to their ends: tasks, and frames while they are
          scrolled there

Needs Chromium (CHROMIUM=/path, or the package chromium). Takes about three minutes.`,
  )
  .parse()
  .opts();
const executable = findChromium();
if (executable === undefined) process.exit(1);

const WINDOW = { width: 1280, height: 900 };
/**
 * Renders all rows that arrive between two polls: with a lower limit the oldest of them would never be
 * rendered, nor counted.
 */
const TALL_WINDOW = { width: 1280, height: 8000 };
const PATIENCE_MS = 600_000;

const say = (text: string) => process.stdout.write(`${text}\n`);
const report = (name: string, value: string) => say(`  ${styleText('dim', name.padEnd(58))} ${value}`);
const heading = (text: string) => say(`\n${styleText('bold', text)}`);
const ms = (value: number) => `${value.toFixed(0)} ms`;

/** @param share 0.5 for the median */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
const spread = (values: readonly number[]) =>
  `median ${ms(quantile(values, 0.5))}, p90 ${ms(quantile(values, 0.9))}, most ${ms(Math.max(...values))} (${values.length})`;

/**
 * Runs in each page from its beginning: records long tasks, frames, the largest paint, and when rows of
 * deliveries appear.
 */
const OBSERVER = `
  window.noted = { tasks: [], rows: {}, paint: 0, frames: [] };
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) noted.tasks.push(duration); })
    .observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => { for (const { startTime } of list.getEntries()) noted.paint = startTime; })
    .observe({ type: 'largest-contentful-paint', buffered: true });
  const look = (node) => {
    if (node.nodeType !== 1) return;
    for (const link of [node, ...node.querySelectorAll('a')]) {
      const id = /dlv_[0-9a-f]+/.exec(link.getAttribute?.('href') ?? '')?.[0];
      if (id && !(id in noted.rows)) noted.rows[id] = performance.timeOrigin + performance.now();
    }
  };
  new MutationObserver((changes) => {
    for (const { addedNodes, target } of changes) { for (const node of addedNodes) look(node); look(target); }
  }).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['href'] });
`;
const noted = <T>(page: Page, what: string): Promise<T> => page.evaluate(`noted.${what}`) as Promise<T>;

async function tasks(page: Page): Promise<string> {
  const long = await noted<number[]>(page, 'tasks');
  return long.length === 0
    ? 'none over 50 ms'
    : `${long.length} over 50 ms, longest ${ms(Math.max(...long))}`;
}

async function loads(browser: Browser, origin: string, storageState: string, paths: Record<string, string>) {
  heading('Largest contentful paint');
  for (const [name, path] of Object.entries(paths)) {
    const [cold, warm]: [number[], number[]] = [[], []];
    for (let run = 0; run < RUNS; run += 1) {
      const context = await browser.newContext({ storageState, viewport: WINDOW });
      await context.addInitScript(OBSERVER);
      for (const times of [cold, warm]) {
        const page = await context.newPage();
        await page.goto(`${origin}${path}`);
        await page.locator('main h1').waitFor();
        await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
        await page.waitForLoadState('networkidle').catch(() => undefined);
        times.push(await noted<number>(page, 'paint'));
        await page.close();
      }
      await context.close();
    }
    report(`${name}, nothing cached`, spread(cold));
    report(`${name}, cached`, spread(warm));
  }
}

async function live(page: Page, api: ReturnType<typeof apiClient>, webhookId: string) {
  heading(`${RATE} deliveries a second for ${SECONDS} s, with the list open`);
  const startedAt = Date.now();
  const sent = await openLoop({ perSecond: RATE, count: RATE * SECONDS }, async () => {
    const { body } = await api.post('/api/v1/tickets', {});
    return String(body.data?.id);
  });
  const created = await until(
    'all deliveries to be made',
    async () => {
      const all = await api.all(`/api/v1/webhooks/${webhookId}/deliveries`, {
        from: new Date(startedAt).toISOString(),
      });
      return all.length >= sent.length && all;
    },
    PATIENCE_MS,
  );
  await page.waitForTimeout(3_000);
  const seen = await noted<Record<string, number>>(page, 'rows');
  const late = created.flatMap(({ id, createdAt }) => {
    const at = seen[String(id)];
    return at === undefined ? [] : [at - Date.parse(String(createdAt))];
  });
  if (late.length < created.length)
    throw new Error(
      `${created.length - late.length} of ${created.length} deliveries were never drawn: no figure`,
    );
  report('from its creation into the page, all that were made', spread(late));
  report('tasks of the page', await tasks(page));
}

const countElements = (page: Page): Promise<number> => page.evaluate('document.querySelectorAll("*").length');

/** Parts of a list, to see whether tasks take longer the more rows there are. */
const QUARTERS = 4;

/** @param name of the list */
async function long(page: Page, url: string, name: string) {
  heading(`A list of ${ROWS} ${name.toLowerCase()}`);
  const began = wallClock.now();
  await page.goto(url);
  const list = page.getByRole('list', { name, exact: true });
  await list.getByRole('link').first().waitFor();
  const quarters: string[] = [];
  let mostElements = 0;
  for (let shown = 0; shown < ROWS; ) {
    await page.evaluate('window.scrollTo({ top: document.documentElement.scrollHeight })');
    await page.waitForTimeout(30);
    const last = await list.getByRole('listitem').last().getAttribute('aria-posinset');
    shown = Number(last);
    mostElements = Math.max(mostElements, await countElements(page));
    if (shown >= ((quarters.length + 1) * ROWS) / QUARTERS) {
      quarters.push(await tasks(page));
      await page.evaluate('noted.tasks.length = 0');
    }
    if (wallClock.now() - began > PATIENCE_MS) throw new Error(`only ${shown} rows came`);
  }
  report('followed to its end', ms(wallClock.now() - began));
  for (const [index, quarter] of quarters.entries())
    report(`tasks meanwhile, quarter ${index + 1} of the rows`, quarter);
  report('most elements in the page meanwhile', String(mostElements));
  await page.evaluate(`
    noted.tasks.length = 0;
    window.scrollTo({ top: document.documentElement.scrollHeight / 2 });
    let last = performance.now();
    const frame = (now) => { noted.frames.push(now - last); last = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  `);
  await page.mouse.move(640, 600);
  for (let turn = 0; turn < 120; turn += 1) {
    await page.mouse.wheel(0, turn % 2 === 0 ? 900 : 1500);
    await page.waitForTimeout(25);
  }
  const frames = (await noted<number[]>(page, 'frames')).slice(1);
  report('frames while it is scrolled in the middle', spread(frames));
  report('tasks while it is scrolled', await tasks(page));
  report('elements in the page', String(await countElements(page)));
  const heap = await page.evaluate<number>('performance.memory?.usedJSHeapSize ?? 0');
  report('memory of its scripts', `${(heap / 2 ** 20).toFixed(0)} MiB`);
}

const loadBefore = loadOfMinute();
const directory = await temporaryDirectory();
const engines = await startRunEngines(join(directory.path, 'engines'));
await using cleanup = new AsyncDisposableStack();
cleanup.defer(() => directory.remove());
cleanup.defer(() => engines.stop());
const run = await startLocalRun(join(directory.path, 'run'), engines.settings);
cleanup.defer(async () => {
  await run.interrupt();
});
const receiver = await startReceiver(run.tls);
cleanup.defer(() => receiver.stop());
const { BASE_URL, API_KEY, ORG_ID } = run.environment;
const api = apiClient({ BASE_URL, API_KEY }, 32);
cleanup.defer(() => api.close());
const busy = await api.register(`${receiver.url}/busy`, ['ticket.created']);
const full = await api.register(`${receiver.url}/full`, ['conversation.resolved']);
const { origin } = new URL(BASE_URL);
const browser = await launch(executable);
cleanup.defer(() => browser.close());
const context = await browser.newContext({ viewport: WINDOW });
await context.addInitScript(OBSERVER);
const page = await context.newPage();
await page.goto(`${origin}/`);
await signIn(page, ADMIN);
const session = join(directory.path, 'session.json');
await context.storageState({ path: session });

for (let count = 0; count < 200; count += 1) await api.post('/api/v1/tickets', {});
await loads(browser, origin, session, {
  overview: '/',
  events: '/events',
  deliveries: `/deliveries/${busy.id}`,
});
await page.goto(`${origin}/deliveries/${busy.id}`);
await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().waitFor();
await page.setViewportSize(TALL_WINDOW);
await page.evaluate('noted.tasks.length = 0');
await live(page, api, busy.id);
await page.setViewportSize(WINDOW);
writeHistory(join(directory.path, 'engines', 'dynamodb.sqlite'), await engines.tables(), {
  orgId: OrgId.parse(ORG_ID),
  webhookId: ReceiverId.parse(full.id),
  count: ROWS,
});
await long(page, `${origin}/deliveries/${full.id}`, 'Deliveries');
await long(page, `${origin}/events?type=conversation.created`, 'Events');

const { load, model, cpus, node } = describeMachine(loadBefore);
say(
  styleText(
    'dim',
    `\n  ${cpus} × ${model}, Node.js ${node}, Chromium ${browser.version()}; load ${load.atBeginning} before, ${load.atEnd} after`,
  ),
);
