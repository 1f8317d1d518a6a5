import { commandLine, wholeNumber } from 'terminal/command-line.ts';
import { campaign } from './campaign.ts';
import { finding, progress, table, verdict } from './report.ts';
import { type Outcome, simulate } from './simulate.ts';

/** Findings that are printed; the others are only counted. */
const MOST_SHOWN = 10;

const print = (text: string) => process.stdout.write(text);

/** Seeds are below 2^32. */
const MOST = 999_999_999;
const values = commandLine(
  'npm run simulate --',
  "Runs the service's own fan-out, dispatcher, gate, watcher, reconciler, audit and purge in memory and on a virtual clock, lets go wrong what may, resets sandboxes meanwhile, and checks after each step and at the end that every promise held. Ends with 1 when a promise did not hold.",
)
  .option('--runs <n>', 'how many runs, one for each seed', wholeNumber(1, MOST), 10_000)
  .option('--seed <n>', 'the first seed', wholeNumber(0, MOST), 1)
  .option('--workers <n>', 'threads', wholeNumber(1, MOST), 2)
  .option('--replay <n>', 'runs this seed alone', wholeNumber(0, MOST))
  .option('--trace', 'prints everything that happens in it')
  .parse()
  .opts();

async function replay(seed: number): Promise<number> {
  const outcome = await simulate(seed, values.trace ? (line) => print(`${line}\n`) : undefined);
  print(outcome.violation === undefined ? `  seed ${seed}: every promise held\n` : `\n${finding(outcome)}\n`);
  return outcome.violation === undefined ? 0 : 1;
}

async function runAll(runs: number, seed: number, workers: number): Promise<number> {
  const startedAt = performance.now();
  let shownAt = startedAt;
  const show = (done: number, findings: readonly Outcome[]) => {
    print(
      `${process.stdout.isTTY ? '\r' : '\n'}${progress(done, runs, (performance.now() - startedAt) / 1000, findings)}`,
    );
    shownAt = performance.now();
  };
  print(`\n  seeds ${seed} to ${seed + runs - 1}, ${workers} threads\n`);
  const { statistics, findings } = await campaign({ runs, seed, workers }, (done, findings) => {
    // Often enough to show progress, and rare enough for a log.
    if (performance.now() - shownAt > (process.stdout.isTTY ? 200 : 10_000)) show(done, findings);
  });
  show(runs, findings);
  print(`\n\n${table(runs, statistics)}\n\n`);
  for (const outcome of findings.slice(0, MOST_SHOWN)) print(`${finding(outcome)}\n\n`);
  print(`${verdict(findings)}\n\n`);
  return findings.length === 0 ? 0 : 1;
}

const { runs, seed, workers, replay: again } = values;
process.exitCode = await (again === undefined ? runAll(runs, seed, workers) : replay(again));
