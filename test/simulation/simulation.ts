import { parseArgs } from 'node:util';
import { campaign } from './campaign.ts';
import { finding, progress, table, verdict } from './report.ts';
import { simulate } from './simulate.ts';

const HELP = `Runs the service's own fan-out, dispatcher, gate, watcher, reconciler, audit and purge in memory and on a virtual clock, lets go wrong what may,
resets sandboxes meanwhile, and checks after each step and at the end that every promise held: npm run simulate -- [options]

  --runs N       how many runs, one for each seed (10000)
  --seed N       the first seed (1)
  --workers N    threads (2)
  --replay N     runs this seed alone
  --versions     lets each process run this version of the code or the one before (test/compatibility/previous), with their real stores on
                 tables in memory; about a quarter as fast
  --trace        tells everything that happens in it
  --help

Ends with 1 when a promise did not hold.
`;

/** Findings that are shown; the others are only counted. */
const MOST_SHOWN = 10;

const print = (text: string) => process.stdout.write(text);

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    replay: { type: 'string' },
    versions: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function replay(seed: number): Promise<number> {
  const one = values.versions ? (await import('./versions/simulate-versions.ts')).simulateVersions : simulate;
  const outcome = await one(seed, values.trace ? (line) => print(`${line}\n`) : undefined);
  print(
    outcome.violation === undefined
      ? `  seed ${seed}: every promise held\n`
      : `\n${finding(outcome, values.versions)}\n`,
  );
  return outcome.violation === undefined ? 0 : 1;
}

async function runAll(runs: number, seed: number, workers: number): Promise<number> {
  const startedAt = performance.now();
  let shownAt = startedAt;
  const show = (done: number) => {
    print(
      `${process.stdout.isTTY ? '\r' : '\n'}${progress(done, runs, (performance.now() - startedAt) / 1000)}`,
    );
    shownAt = performance.now();
  };
  print(`\n  seeds ${seed} to ${seed + runs - 1}, ${workers} threads\n`);
  const { statistics, findings } = await campaign(
    { runs, seed, workers, versions: values.versions },
    (done) => {
      // Often enough to be seen moving, seldom enough for a log.
      if (performance.now() - shownAt > (process.stdout.isTTY ? 200 : 10_000)) show(done);
    },
  );
  show(runs);
  print(`\n\n${table(runs, statistics)}\n\n`);
  for (const outcome of findings.slice(0, MOST_SHOWN)) print(`${finding(outcome, values.versions)}\n\n`);
  print(`${verdict(findings)}\n\n`);
  return findings.length === 0 ? 0 : 1;
}

function main(): Promise<number> | number {
  const [runs, seed, workers] = [values.runs, values.seed, values.workers].map(wholeNumber);
  const again = values.replay === undefined ? undefined : wholeNumber(values.replay);
  const isUnreadable =
    !runs || seed === undefined || !workers || (values.replay !== undefined && again === undefined);
  if (values.help || isUnreadable) {
    print(HELP);
    return values.help ? 0 : 2;
  }
  return again === undefined ? runAll(runs, seed, workers) : replay(again);
}

/** Seeds are below 2^32. */
function wholeNumber(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

process.exitCode = await main();
