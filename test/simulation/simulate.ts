import { faultsAtRest } from './ends.ts';
import { mail } from './mail-budgets.ts';
import { within } from './node.ts';
import type { Violation } from './promises.ts';
import { Random } from './random.ts';
import { replay } from './replays.ts';
import { Schedule } from './schedule.ts';
import { World } from './world.ts';

/** How often the fan-out fails for three days after the other faults, in runs that have any. */
const OUTAGE = 0.02;

/** The result of one run. */
export interface Outcome {
  seed: number;
  violation: Violation | undefined;
  /** How often each event happened. */
  counts: ReadonlyMap<string, number>;
}

/**
 * Runs the service with the faults of a seed and then without any, and checks the promises at each step and
 * at the end; then a repeated request, and e-mails. The same seed gives the same run.
 * @param trace called with a line for everything that happens
 */
export async function simulate(seed: number, trace?: (line: string) => void): Promise<Outcome> {
  const world = new World(new Random(seed));
  const jitter = new Random(seed ^ 0x5bd1e995);
  const outcome = await within(
    { sleep: (ms) => world.processes.pause(ms), random: () => jitter.next() },
    () => run(seed, world, !world.faults.isCalm && new Random(seed ^ 0x7f4a7c15).chance(OUTAGE), trace),
  );
  if (outcome.violation !== undefined) return outcome;
  const violation =
    (await replay(new Random(seed ^ 0x2c1b3c6d), world.statistics, trace)) ??
    (await mail(new Random(seed ^ 0x165667b1), world.statistics, trace));
  return { ...outcome, violation };
}

async function run(
  seed: number,
  world: World,
  hasOutage: boolean,
  trace?: (line: string) => void,
): Promise<Outcome> {
  if (trace) world.trace = (line) => trace(world.named(`${world.clock.now().toISOString()}  ${line}`));
  const schedule = new Schedule(world);
  await schedule.trouble();
  if (hasOutage) await schedule.outage();
  world.trace?.('- from here on nothing goes wrong');
  await schedule.rest();
  if (world.witness.violation === undefined)
    for (const [promise, detail] of faultsAtRest(world)) world.witness.tell(promise, detail);
  const { statistics, witness, tables } = world;
  statistics.count('steps', schedule.steps);
  if (world.faults.isCalm) statistics.count('calm runs');
  if (world.faults.beyondMargin) statistics.count('runs beyond the margin');
  statistics.count('endpoints disabled', witness.counts.disablings);
  statistics.count('warnings of failures', world.warnings.length);
  statistics.count('events of endpoints', world.stateEvents.length);
  statistics.count('duplicates at receivers', witness.attempts.duplicates);
  statistics.count('events', world.events.size);
  for (const { orgId, webhookId, status, terminalReason, attemptLog } of tables.deliveries.values()) {
    const isSandbox = world.organizations.isSandbox(orgId);
    const of = isSandbox ? 'deliveries of sandboxes' : 'deliveries';
    statistics.count(`${of}: ${[status, terminalReason].filter(Boolean).join(', ')}`);
    const speed = world.registrations.get(webhookId)?.program.speed ?? 1;
    if (isSandbox && speed > 1 && attemptLog.length > 0) statistics.count('deliveries at another speed');
  }
  return { seed, violation: witness.violation, counts: statistics.counts };
}
