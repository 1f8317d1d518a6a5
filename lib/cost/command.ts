import { ArgumentError, readArguments } from './arguments.ts';
import { figures } from './figures.ts';
import { Measured } from './measured.ts';
import { PRICE_LIST } from './prices.ts';
import { bill } from './pricing.ts';
import { totalOf, usage } from './usage.ts';
import { type Estimate, type Paint, renderEstimate } from './view.ts';
import type { Workload } from './workload.ts';

const USAGE = `Usage: npm run cost -- [options]

  Says what a month costs on AWS, service by service, from request counts that were measured and list prices.

  --deliveries 10M         deliveries of the month (10M)
  --endpoints 500          endpoints that they go to (1)
  --organizations 500      organizations that these belong to (one for each endpoint)
  --messages 10M           messages recorded over the API, each an event (as many as the deliveries are of)
  --reads 0                API calls that read (0)
  --failure-rate 2%        how many attempts fail at once, with an error or another status (0%)
  --hanging-rate 0%        how many deliveries go to endpoints that do not answer, eight times (0%)
  --body-size 1KB          of a delivered body (as measured: that of a message, which holds identifiers alone)
  --text-size 200          of a message (200)
  --receiver-latency 200ms until a receiver answers (200ms)
  --retention-days 30      for which conversations are kept (30)
  --busy-hours 243         hours of the month over which it is spread: the fewer, the fuller the batches (a third of 730)
  --batch 10               records of each batch, instead of what follows from the rate
  --json                   prints the estimate as JSON
  --help                   prints this

  Numbers take k, M and G. lib/cost/prices.ts holds the prices, lib/cost/measured.json the counts, docs/cost.md the method.
`;

/** What a month of a workload costs. */
function estimate(workload: Workload, measured: Measured): Estimate {
  const used = usage(workload, measured);
  return {
    workload,
    measured,
    bill: bill(totalOf(used)),
    standingUsd: bill(used.standing).usd,
    figures: figures(workload, measured),
  };
}

/** Where a command writes. */
interface Streams {
  output: { write(text: string): unknown };
  errors: { write(text: string): unknown };
  paint: Paint;
}

/**
 * `npm run cost`.
 * @param measured what `lib/cost/measured.json` holds
 * @returns the exit code: 2 when it was called wrongly
 */
export function costCommand(
  args: readonly string[],
  measured: unknown,
  { output, errors, paint }: Streams,
): number {
  try {
    const counted = Measured.parse(measured);
    const { workload, json, help } = readArguments(args, counted.bodyBytes);
    if (help) output.write(USAGE);
    else {
      const found = estimate(workload, counted);
      output.write(json ? `${JSON.stringify(jsonOf(found), null, 2)}\n` : renderEstimate(found, paint));
    }
    return 0;
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    errors.write(`${error.message}.\nnpm run cost -- --help says what there is.\n`);
    return 2;
  }
}

const jsonOf = ({
  workload,
  bill: { services, usd },
  standingUsd,
  figures: perMillion,
  measured,
}: Estimate) => ({
  prices: PRICE_LIST,
  measured: measured.date,
  workload,
  usd,
  standingUsd,
  perMillion,
  services,
});
