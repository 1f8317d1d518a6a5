import { commandLine, refuse } from 'terminal/command-line.ts';
import { Measured } from './measured.ts';
import { idleMonth, perMillion, usage, type Workload } from './month.ts';
import { bill, PRICE_LIST, usdOf } from './prices.ts';
import { type Paint, renderEstimate } from './view.ts';

/** Units: `10k`, `2.5M`, `1G`. */
const SUFFIXES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 };
/** More than all of AWS sends. */
const MOST = 1e15;

/** Parses a month's workload. Exits the process for `--help` and for wrong arguments. */
function readArguments(args: readonly string[]): { workload: Workload; json: boolean } {
  const command = commandLine(
    'npm run cost --',
    'Says what a month costs on AWS, service by service, from request counts that were measured and list prices.',
  )
    .option('--deliveries <n>', 'deliveries of the month', count, 10e6)
    .option('--messages <n>', 'messages recorded over the API (one for each delivery)', count)
    .option('--reads <n>', 'API calls that read', count, 0)
    .option('--failure-rate <share>', 'deliveries whose second attempt succeeds', share, 0)
    .option('--exhausted-rate <share>', 'deliveries whose eight attempts fail', share, 0)
    .option('--hanging-rate <share>', 'deliveries whose receiver answers none of eight attempts', share, 0)
    .option('--burst', 'as counted in bursts, which fill batches, instead of at a steady rate', false)
    .option('--json', 'print the estimate as JSON', false)
    .addHelpText(
      'after',
      `
Numbers take k, M and G. lib/cost/prices.ts holds the prices, lib/cost/measured.json the counts, docs/cost.md the method.

Example: npm run cost -- --deliveries 10M --failure-rate 2%`,
    )
    .parse(args, { from: 'user' });
  const { json, messages = command.opts().deliveries, ...given } = command.opts();
  if (given.failureRate + given.exhaustedRate + given.hangingRate > 1)
    command.error('error: the rates of deliveries that fail add up to more than 100%');
  return { workload: { ...given, messages }, json };
}

function count(value: string): number {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?|\.\d+)([kmg]?)$/i.exec(value.replaceAll('_', '')) ?? [];
  const amount = Number(digits) * (SUFFIXES[suffix.toLowerCase()] ?? 1);
  return amount <= MOST ? amount : refuse('a number, such as 500, 10k, 2.5M or 1G');
}

function share(value: string): number {
  const [, digits, percent] = /^(\d+(?:\.\d+)?|\.\d+)(%?)$/.exec(value) ?? [];
  const fraction = Number(digits) / (percent ? 100 : 1);
  return fraction <= 1 ? fraction : refuse('a share from 0% to 100%, such as 2% or 0.02');
}

/**
 * Runs `npm run cost`. Exits the process for `--help` and for wrong arguments.
 * @param content of `lib/cost/measured.json`
 */
export function costCommand(
  args: readonly string[],
  content: unknown,
  { output, paint }: { output: { write(text: string): unknown }; paint: Paint },
): void {
  const measured = Measured.parse(content);
  const { workload, json } = readArguments(args);
  const used = usage(workload, measured);
  const estimate = {
    prices: PRICE_LIST,
    measured: measured.date,
    workload,
    usd: usdOf(used),
    idleUsd: idleMonth(measured),
    perMillion: perMillion(measured),
    services: bill(used),
  };
  output.write(json ? `${JSON.stringify(estimate, null, 2)}\n` : renderEstimate(estimate, paint));
}
