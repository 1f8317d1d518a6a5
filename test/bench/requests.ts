import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { among, commandLine, repeatable, text } from 'terminal/command-line.ts';
import { Measured } from '../../lib/cost/measured.ts';
import { MAIL_FROM, synthesize } from '../../lib/local-run/start/synthesis.ts';
import { DASHBOARD_ORIGIN } from '../support/service.ts';
import { measureCalls } from './requests/calls.ts';
import { measureFailures, measureParked } from './requests/failures.ts';
import { measureIdle } from './requests/idle.ts';
import { measureLimited } from './requests/limited.ts';
import { measureSuccesses } from './requests/successes.ts';
import { templateFacts } from './requests/template-facts.ts';
import { startWatchedRun, type WatchedRun } from './requests/watched-run.ts';

/*
 * The requests of each piece of work to AWS: the real functions of the real template on this machine, with a
 * recorder in each function's process that writes down every request and its consumed capacity. The cost
 * model (lib/cost) multiplies these figures.
 */
const COST_MODEL = join(import.meta.dirname, '../../lib/cost/measured.json');

const SECTIONS = ['template', 'work', 'failures', 'parked', 'limited'] as const;

const { only = SECTIONS, out: FILE = COST_MODEL } = commandLine(
  'npm run bench -- requests',
  'Measures what an API call of each kind, a delivery of each kind, background work and an idle hour ask of AWS, and writes it to lib/cost/measured.json, from which "npm run cost" calculates. Takes about ten minutes on a machine that does nothing else.',
)
  .option(
    '--only <section>',
    'this one; may be repeated; the others stay as they were',
    repeatable(among(SECTIONS)),
  )
  .option(
    '--out <file>',
    'another file; what is not measured comes from its contents, or else from measured.json',
    text,
  )
  .addHelpText(
    'after',
    `
Sections:
  template   what the template of production says: queues, alarms, schedules, memory
  work       API calls, deliveries that succeed at once, background work, scheduled functions
  failures   deliveries that fail, and endpoints that hang
  parked     waits that are parked
  limited    deliveries to endpoints with a limit of attempts per second`,
  )
  .parse()
  .opts();

const say = (text: string) => process.stdout.write(`${text}\n`);

/**
 * Shorter times, in the same order: an attempt fails well within the window in which its delivery is added,
 * and is retried after it. They change when requests are made, not how many.
 */
const QUICK = { retryBaseSeconds: 5, retryCapSeconds: 5, attemptTimeoutSeconds: 1, watchWindowSeconds: 4 };
/** A first wait so long that the delivery is parked. */
const LONG = { retryBaseSeconds: 1000, retryCapSeconds: 3600 };

/** The template of production. */
async function readTemplate(): Promise<Measured['template']> {
  const directory = mkdtempSync(join(tmpdir(), 'assembly-'));
  try {
    await synthesize({
      assembly: join(directory, 'assembly'),
      compileCache: join(tmpdir(), 'service-compile-cache'),
      context: { stage: 'prod', mailFrom: MAIL_FROM, dashboardOrigin: DASHBOARD_ORIGIN },
      signal: AbortSignal.timeout(180_000),
    });
    return templateFacts(join(directory, 'assembly'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function withRun<T>(
  context: Readonly<Record<string, number>>,
  use: (run: WatchedRun) => Promise<T>,
): Promise<T> {
  const run = await startWatchedRun(context);
  try {
    return await use(run);
  } finally {
    await run.stop();
  }
}

const measureWork = (schedules: readonly string[]) =>
  withRun({}, async (run) => {
    say('Deliveries that succeed at once, their events and what is behind the bus');
    const { succeeded, call, ...others } = await measureSuccesses(run);
    say('A run of each scheduled function with nothing to do');
    const idle = await measureIdle(run, schedules);
    say('A call of each route');
    const calls = await measureCalls(run);
    return { succeeded, ...others, idle, calls: { ...calls, 'create-message': call } };
  });

/** Of an earlier run, until they are measured. */
let measured: Partial<Measured> = JSON.parse(readFileSync(existsSync(FILE) ? FILE : COST_MODEL, 'utf8'));

function keep(part: Partial<Measured>): void {
  const [cpu] = cpus();
  measured = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpu?.model}, Node.js ${process.version}`,
    ...Object.fromEntries(Object.entries(measured).filter(([name]) => !['date', 'machine'].includes(name))),
    ...part,
  };
  writeFileSync(FILE, `${JSON.stringify(measured, null, 2)}\n`);
}

/**
 * The results that a section needs.
 * @throws Error naming the missing section
 */
function before<Name extends keyof Measured>(name: Name): NonNullable<Measured[Name]> {
  const figures = measured[name];
  if (figures === undefined)
    throw new Error(`${name} was not measured: --only template --only work comes first`);
  return figures as NonNullable<Measured[Name]>;
}

const isWanted = (section: (typeof SECTIONS)[number]) => only.includes(section);

if (isWanted('template')) {
  say('What the template says');
  keep({ template: await readTemplate() });
}
if (isWanted('work')) {
  const { succeeded, ...work } = await measureWork(Object.keys(before('template').schedules));
  keep({ ...work, deliveries: { ...measured.deliveries, succeeded } as Measured['deliveries'] });
}
const batches = () => ({ dispatch: before('dispatchBatch'), watch: before('watchEndpoint') });
if (isWanted('failures')) {
  say('Deliveries that fail');
  const failures = await withRun(QUICK, (run) => measureFailures(run, batches()));
  keep({ deliveries: { ...before('deliveries'), ...failures } });
}
if (isWanted('parked')) {
  say('Waits that are parked');
  const { retried } = before('deliveries');
  keep({ parkedWait: await withRun(LONG, (run) => measureParked(run, batches(), retried)) });
}
if (isWanted('limited')) {
  say('Deliveries to endpoints with a limit');
  const { succeeded } = before('deliveries');
  keep({ limited: await withRun({}, (run) => measureLimited(run, batches(), succeeded)) });
}
Measured.parse(measured);
say(`${relative(process.cwd(), FILE)} is written.`);
