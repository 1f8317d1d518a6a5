import { readArguments } from './arguments.ts';
import { figures } from './figures.ts';
import { estimateLatency, renderLatency } from './latency.ts';
import { Measured } from './measured.ts';
import { PRICE_LIST } from './prices.ts';
import { bill } from './pricing.ts';
import { totalOf, usage } from './usage.ts';
import { type Estimate, type Paint, renderEstimate } from './view.ts';
import type { Workload } from './workload.ts';

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

/**
 * Runs `npm run cost`. Exits the process for `--help` and for wrong arguments.
 * @param measured content of `lib/cost/measured.json`
 */
export function costCommand(
  args: readonly string[],
  measured: unknown,
  { output, paint }: { output: { write(text: string): unknown }; paint: Paint },
): void {
  const counted = Measured.parse(measured);
  const { workload, json, latency } = readArguments(args, counted.bodyBytes);
  if (latency) {
    const time = estimateLatency(workload, counted);
    output.write(json ? `${JSON.stringify(time, null, 2)}\n` : renderLatency(time, paint));
    return;
  }
  const estimated = estimate(workload, counted);
  output.write(json ? `${JSON.stringify(jsonOf(estimated), null, 2)}\n` : renderEstimate(estimated, paint));
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
