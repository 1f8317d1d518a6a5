import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { among, commandLine, repeatable, text, wholeNumber } from 'terminal/command-line.ts';
import { paintFor } from 'terminal/paint.ts';
import { type Block, figure } from './figure.ts';
import { ending, endWhenInterrupted } from './measure/interruption.ts';
import { commitOf, describeMachine, loadOfMinute } from './measure/machine.ts';
import { quantile } from './measure/statistics.ts';
import { retries, silence } from './neighbours/deliveries.ts';
import { mail } from './neighbours/mail.ts';
import { HONEST, withPlace } from './neighbours/place.ts';
import { reads } from './neighbours/reads.ts';
import type { Prepared, Scenario } from './neighbours/scenario.ts';
import { sources } from './neighbours/sources.ts';
import { alternate, judge, MOST_TIMES, pooled, SIDES, type Turns } from './neighbours/turns.ts';
import { visitors } from './neighbours/visitors.ts';
import { renderBlock } from './report/table.ts';

/*
 * The effect of one hostile organization on ten honest ones: their latency without and with its load, in
 * alternation, in one local run.
 */
const ROOT = join(import.meta.dirname, '../..');
const SCENARIOS: readonly Scenario[] = [retries, silence, sources, reads, visitors, mail];
const NAMES = SCENARIOS.map(({ name }) => name);

/** Starts the sandboxes of all functions that a turn needs. */
const WARMING_SECONDS = 5;
const paint = paintFor(process.stdout);
const say = (text: string) => process.stdout.write(`${text}\n`);
const began = performance.now();
const progressOf = (name: string) => (text: string) =>
  void process.stderr.write(
    `${((performance.now() - began) / 1000).toFixed(0).padStart(6)} s  ${name.padEnd(10)}${text}\n`,
  );

async function warmUp({ honestTurn, startHostile }: Prepared): Promise<void> {
  await honestTurn(WARMING_SECONDS);
  const load = await startHostile();
  await honestTurn(WARMING_SECONDS);
  await load.stop();
}

interface Terms {
  seconds: number;
  rounds: number;
}

function measure(scenario: Scenario, { seconds, rounds }: Terms): Promise<Turns> {
  const progress = progressOf(scenario.name);
  progress('the service starts');
  return withPlace(scenario.context, async (place) =>
    ending(
      await scenario.prepare(place, { seconds, progress }),
      async ({ close }) => close?.(),
      async (prepared) => {
        progress('warm-up');
        await warmUp(prepared);
        return alternate(scenario, prepared, { seconds, rounds, progress });
      },
    ),
  );
}

function blockOf({ name, about, scarce }: Scenario, turns: Turns): Block {
  const rows = SIDES.flatMap((side) =>
    [...pooled(turns[side])].map(([metric, times]) => ({ subject: `${metric}, ${side}`, side, times })),
  );
  const counted = { unit: 'count', better: 'neither' } as const;
  const sum = (side: keyof Turns, part: 'calls' | 'refused' | 'missing') =>
    turns[side].reduce((total, turn) => total + turn[part], 0);
  const shareOf = (side: keyof Turns, part: 'own' | 'all') =>
    (100 * turns[side].reduce((total, { processors }) => total + processors[part], 0)) / turns[side].length;
  return {
    title: `${name}: ${about}`,
    figures: rows.flatMap(({ subject, side, times }) => [
      figure(subject, 'samples', times.length, counted),
      ...([0.5, 0.95, 0.99] as const).map((share) =>
        figure(subject, `p${share * 100}`, quantile(times, share), { unit: 'ms' }),
      ),
      figure(subject, 'refused', sum(side, 'refused'), counted),
      figure(subject, 'missing', sum(side, 'missing'), counted),
      figure(subject, 'own CPU %', shareOf(side, 'own'), counted),
      figure(subject, 'CPU %', shareOf(side, 'all'), counted),
    ]),
    notes: [`Scarce: ${scarce}`, ...turns.with.map(({ hostile }) => `The hostile organization: ${hostile}.`)],
  };
}

/** @returns whether all scenarios pass */
async function bench(names: readonly string[], terms: Terms, file?: string): Promise<boolean> {
  const load = loadOfMinute();
  const { cpus, model, node } = describeMachine(load);
  say(
    `\n  ${paint('bold', 'Neighbours')} of ${commitOf(ROOT)} on ${cpus} x ${model}, Node.js ${node}, load ${load.toFixed(2)}; turns of ${terms.seconds} s, ${terms.rounds} of each side\n`,
  );
  const comparisons: { name: string; ratio: number; faults: string[]; turns: Turns }[] = [];
  for (const scenario of SCENARIOS.filter(({ name }) => names.includes(name))) {
    const turns = await measure(scenario, terms);
    const { metric, ratio, faults } = judge(turns);
    comparisons.push({ name: scenario.name, ratio, faults, turns });
    say(renderBlock(blockOf(scenario, turns), paint));
    const verdict = faults.length === 0 ? paint('green', 'passes') : paint('red', faults.join('; '));
    say(
      `  p99 of ${metric}, with by without: ${paint('bold', ratio.toFixed(2))}, at most ${MOST_TIMES}: ${verdict}\n`,
    );
    // Earlier results stay when a later scenario fails.
    if (file === undefined) continue;
    const document = {
      commit: commitOf(ROOT),
      machine: describeMachine(load),
      ...terms,
      scenarios: comparisons,
    };
    writeFileSync(file, `${JSON.stringify(document, null, 1)}\n`);
  }
  return comparisons.every(({ faults }) => faults.length === 0);
}

const {
  scenario = NAMES,
  json,
  ...terms
} = commandLine(
  'npm run bench -- neighbours',
  `Measures what one hostile organization does to ${HONEST} honest ones, all of the tier standard. Each scenario has a local run of its own and alternates turns without and with the hostile load. It prints the honest organizations' quantiles over the turns of each side, and exits with 1 when the p99 with the load is more than ${MOST_TIMES} times the one without, or honest calls were refused, or something did not come in time.`,
)
  .option('--scenario <name>', 'this one; may be repeated', repeatable(among(NAMES)))
  .option('--seconds <n>', 'of each turn', wholeNumber(5, 300), 60)
  .option('--rounds <n>', 'of two turns each', wholeNumber(1, 20), 2)
  .option('--json <file>', 'writes the samples of every turn', text)
  .addHelpText(
    'after',
    `
Scenarios:
${SCENARIOS.map(({ name, about }) => `  ${name.padEnd(10)}${about}`).join('\n')}

With 60 s and 2 rounds a scenario takes 5 to 10 minutes.`,
  )
  .parse()
  .opts();

endWhenInterrupted();
process.exitCode = (await bench(scenario, terms, json)) ? 0 : 1;
