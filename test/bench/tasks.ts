import { join } from 'node:path';
import { styleText } from 'node:util';
import type { BrowserContext } from 'playwright-core';
import { commandLine, wholeNumber } from 'terminal/command-line.ts';
import { ADMIN, signIn, WITHOUT_WAITS } from '../e2e/a-dashboard.ts';
import { findChromium, launch } from '../e2e/browser.ts';
import { startLocalRun, temporaryDirectory } from '../support/local-run.ts';
import { describeMachine, loadOfMinute } from './measure/machine.ts';
import { type Stage, setStage } from './tasks/stage.ts';
import { TASKS, type Task } from './tasks/tasks.ts';
import { aUser, type Effort } from './tasks/user.ts';

/* Ten tasks of an integrator: clicks, key presses and seconds until the answer is visible. */
const MAX_RUNS = 5;
const { events: EVENTS, runs: RUNS } = commandLine(
  'npm run bench -- tasks',
  'Starts the local run, fills its organization, and does ten tasks in the dashboard with Chromium.',
)
  .option('--events <n>', 'events of the organization', wholeNumber(1000, 1_000_000), 3000)
  .option('--runs <n>', 'of each task, whose median is printed', wholeNumber(1, MAX_RUNS), MAX_RUNS)
  .addHelpText(
    'after',
    `
The organization has failures of two causes and a disabled endpoint for each run. Clicks are given up to the place
where a task is done, at most three, and in all. A choice in a list is one click, pasting is one key press.

Needs Chromium (CHROMIUM=/path, or the package chromium). Takes about eight minutes.`,
  )
  .parse()
  .opts();
const executable = findChromium();
if (executable === undefined) process.exit(1);

const PATIENCE_MS = 30_000;
const MAX_CLICKS = 3;
const WINDOW = { width: 1280, height: 900 };
const say = (text: string) => process.stdout.write(`${text}\n`);

/** Does a task once, from an overview that is loaded. */
async function once(context: BrowserContext, stage: Stage, task: Task, round: number): Promise<Effort> {
  const page = await context.newPage();
  try {
    await page.goto(`${stage.origin}/`);
    await task.prepare?.(page, stage, round);
    await page.getByRole('heading', { name: 'Endpoints that need attention' }).waitFor();
    const user = aUser(page);
    await task.perform(user, stage, round);
    return user.effort();
  } finally {
    await page.close();
    await task.clean?.(stage);
  }
}

function report({ name }: Task, efforts: readonly Effort[]): void {
  const [effort] = efforts.toSorted((one, other) => one.ms - other.ms).slice(Math.floor(efforts.length / 2));
  if (effort === undefined) return;
  const { toPlace, clicks, keys, ms } = effort;
  const figures = [toPlace, clicks, keys, `${(ms / 1000).toFixed(2)} s`].map((value) =>
    String(value).padStart(8),
  );
  say(`  ${name.padEnd(40)}${figures.join('')}`);
  if (toPlace > MAX_CLICKS) process.exitCode = 1;
}

const loadBefore = loadOfMinute();
const directory = await temporaryDirectory();
await using cleanup = new AsyncDisposableStack();
cleanup.defer(() => directory.remove());
const run = await startLocalRun(join(directory.path, 'run'), WITHOUT_WAITS);
cleanup.defer(async () => {
  await run.interrupt();
});
const stage = await setStage(run, EVENTS, RUNS);
cleanup.defer(() => stage.stop());
const browser = await launch(executable);
cleanup.defer(() => browser.close());
const context = await browser.newContext({ viewport: WINDOW, locale: 'en' });
context.setDefaultTimeout(PATIENCE_MS);
const page = await context.newPage();
await page.goto(`${stage.origin}/`);
await signIn(page, ADMIN);
await page.close();

say(
  styleText(
    'bold',
    `\n  ${''.padEnd(40)}${['to place', 'clicks', 'keys', 'time'].map((name) => name.padStart(8)).join('')}`,
  ),
);
for (const task of TASKS) {
  const efforts: Effort[] = [];
  for (let round = 0; round < RUNS; round += 1) efforts.push(await once(context, stage, task, round));
  report(task, efforts);
}

const { load, model, cpus, node } = describeMachine(loadBefore);
say(
  styleText(
    'dim',
    `\n  ${stage.failed.length} failures of the first cause; ${cpus} × ${model}, Node.js ${node}, Chromium ${browser.version()}; load ${load.atBeginning} before, ${load.atEnd} after`,
  ),
);
