import { computeRedeliveryGroup, LANE_TABLE } from '../../functions/delivery/lanes.ts';
import { quantile } from '../support/statistics.ts';
import { LiveLoad, type LoadTerms } from './live-load.ts';

/** The largest ratio of the p99 of live events beside jobs to that without, as in the bench of recovery. */
export const MOST_TIMES = 1.3;

/** Compares the latencies of live events beside redelivery jobs with those without. */
export async function compareBesideJobs(terms: LoadTerms, quietSeconds: number) {
  const load = new LiveLoad(terms);
  const without = quantile(await load.without(quietSeconds), 0.99);
  const { latencies, jobSeconds } = await load.withJobs();
  return {
    ratio: quantile(latencies, 0.99) / without,
    /** Deliveries of each job in a second. */
    perSecond: terms.failed / jobSeconds,
    /** How often each event was attempted. */
    attempts: [...load.arrivals.values()],
    events: load.arrivals.size,
    failed: terms.jobs * terms.failed,
    mostOutstanding: load.mostOutstanding,
    /** The bound of `mostOutstanding`. */
    mostAtOnce: terms.jobs * computeRedeliveryGroup(LANE_TABLE.slow.dispatchers[terms.stage]),
  };
}

/** Live events beside a job at an endpoint that takes one attempt in a second, behind twelve events. */
export async function runAtLimit(failed: number) {
  const limited = { maxPerSecond: 1, line: 12 };
  const load = new LiveLoad({
    ...{ stage: 'production', receiverMs: [50, 150], jobs: 1, failed, limited },
    // Fewer than the endpoint takes.
    everyMs: 10_000,
  });
  await load.withJobs();
  return {
    mostOutstanding: load.mostOutstanding,
    mostBefore: load.mostBefore,
    attempts: [...load.arrivals.values()],
  };
}
