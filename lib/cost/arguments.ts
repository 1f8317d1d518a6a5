import { commandLine, refuse } from 'terminal/command-line.ts';
import { HOURS_A_MONTH, STANDARD, type Workload } from './workload.ts';

export interface CostArguments {
  workload: Workload;
  json: boolean;
  /** Whether the time from commit to receipt is asked for, instead of the cost. */
  latency: boolean;
}

/** Units: `10k`, `2.5M`, `1G`. */
const SUFFIXES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 };
/** More than all of AWS sends. */
const MOST = 1e15;
const KIB = 1024;
const DEFAULT_DELIVERIES = 10e6;

/**
 * Parses a month's workload. Defaults: an organization per endpoint, a message per event. Exits the process
 * for `--help` and for wrong arguments.
 * @param bodyBytes default size of a delivered body
 */
export function readArguments(args: readonly string[], bodyBytes: number): CostArguments {
  const command = commandLine(
    'npm run cost --',
    'Says what a month costs on AWS, service by service, from request counts that were measured and list prices.',
  )
    .option('--deliveries <n>', 'deliveries of the month (10M)', count())
    .option('--endpoints <n>', 'endpoints that they go to (1)', count(1))
    .option('--organizations <n>', 'organizations that these belong to (one for each endpoint)', count(1))
    .option(
      '--messages <n>',
      'messages recorded over the API, each an event (as many as the deliveries are of)',
      count(),
    )
    .option('--reads <n>', 'API calls that read (0)', count())
    .option(
      '--failure-rate <share>',
      'attempts that fail at once, with an error or another status (0%)',
      share,
    )
    .option(
      '--hanging-rate <share>',
      'deliveries that go to endpoints that do not answer, eight times (0%)',
      share,
    )
    .option('--limited-rate <share>', 'deliveries that go to endpoints with maxPerSecond (0%)', share)
    .option('--waiting-rate <share>', 'of these, those that wait in a queue for their turn (0%)', share)
    .option('--parked-rate <share>', 'of these, those whose turn is more than five minutes ahead (0%)', share)
    .option('--body-size <size>', 'of a delivered body (as measured: of a message, ids alone)', bytes)
    .option('--text-size <size>', 'of a message (200)', bytes)
    .option('--receiver-latency <time>', 'until a receiver answers (200ms)', milliseconds)
    .option('--retention-days <days>', 'for which conversations are kept (30)', count())
    .option(
      '--busy-hours <hours>',
      'hours of the month over which it is spread: the fewer, the fuller the batches (a third of 730)',
      hours,
    )
    .option('--batch <n>', 'records of each batch, instead of what follows from the rate', count(1))
    .option('--latency', 'print the time from commit to receipt instead, and what more memory would cost')
    .option('--json', 'print the estimate as JSON')
    .addHelpText(
      'after',
      `
Numbers take k, M and G. lib/cost/prices.ts holds the prices, lib/cost/measured.json the counts, docs/cost.md the method.

Example: npm run cost -- --deliveries 10M --endpoints 500 --failure-rate 2%`,
    )
    .parse(args, { from: 'user' });
  const {
    json = false,
    latency = false,
    receiverLatency: receiverLatencyMs = STANDARD.receiverLatencyMs,
    ...given
  } = command.opts();
  const { deliveries = DEFAULT_DELIVERIES, endpoints = STANDARD.endpoints } = given;
  const { organizations = endpoints } = given;
  const { messages = deliveries / Math.max(1, endpoints / organizations) } = given;
  if (deliveries > 0 && messages === 0)
    command.error('error: --messages must be more than 0 where there are deliveries: each is of an event');
  return {
    json,
    latency,
    workload: {
      ...STANDARD,
      bodySize: bodyBytes,
      ...given,
      receiverLatencyMs,
      deliveries,
      endpoints,
      organizations,
      messages,
    },
  };
}

/**
 * Parses a number with a suffix, without a sign.
 * @returns undefined for anything else
 */
function parseAmount(value: string): number | undefined {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?|\.\d+)([kmg]?)$/i.exec(value.replaceAll('_', '')) ?? [];
  return digits === undefined ? undefined : Number(digits) * (SUFFIXES[suffix.toLowerCase()] ?? 1);
}

const count =
  (least = 0) =>
  (value: string): number => {
    const amount = parseAmount(value);
    return amount !== undefined && amount >= least && amount <= MOST
      ? amount
      : refuse(`a number of at least ${least}, such as 500, 10k, 2.5M or 1G`);
  };

function share(value: string): number {
  const [, digits, percent] = /^(\d+(?:\.\d+)?|\.\d+)(%?)$/.exec(value) ?? [];
  const fraction = digits === undefined ? Number.NaN : Number(digits) / (percent ? 100 : 1);
  return fraction <= 1 ? fraction : refuse('a share from 0% to 100%, such as 2% or 0.02');
}

function bytes(value: string): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s?(B|KB|KiB)?$/i.exec(value) ?? [];
  const size = Math.round(Number(digits) * (unit.toLowerCase().startsWith('k') ? KIB : 1));
  return size >= 1 && size <= 256 * KIB ? size : refuse('a size from 1 B to 256 KB, such as 800 or 2KB');
}

function milliseconds(value: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s?(ms|s)$/.exec(value) ?? [];
  const ms = Number(digits) * (unit === 's' ? 1000 : 1);
  return ms <= 10_000 ? ms : refuse('a time up to 10s, such as 200ms or 1.5s');
}

function hours(value: string): number {
  const count = parseAmount(value) ?? 0;
  return count >= 1 && count <= HOURS_A_MONTH
    ? count
    : refuse(`a number of hours from 1 to ${HOURS_A_MONTH}`);
}
