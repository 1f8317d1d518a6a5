import type { Measured } from '../../../lib/cost/measured.ts';
import { allEnded, aSender, atOnce, oneByOne } from './deliveries.ts';
import type { Batches } from './failures.ts';
import { startReceivers } from './receivers.ts';
import { minus, NOTHING, ofFunction, plus, times } from './tally.ts';
import type { WatchedRun } from './watched-run.ts';
import { workOf } from './work.ts';

const SUCCEEDS = [204];
const DELIVERIES = 20;
/** So low that all but the first of `DELIVERIES` at once wait in a queue. */
const SLOW = 2;
/** So high that deliveries one by one never wait. */
const FAST = 1000;
/** Longer than the ledger's window, in which the other endpoint's deliveries are counted. */
const QUIET_MS = 12_000;

/**
 * Measures what a limit of attempts per second adds to deliveries that succeed at once.
 * @param succeeded work of such a delivery without a limit
 */
export async function measureLimited(
  run: WatchedRun,
  batches: Batches,
  succeeded: Measured['deliveries']['succeeded'],
): Promise<Measured['limited']> {
  const receivers = await startReceivers(run.service.tls);
  try {
    const unhindered = await aSender(run, receivers, [SUCCEEDS], { maxPerSecond: FAST });
    await atOnce(unhindered, DELIVERIES);
    await run.taken(QUIET_MS);
    await oneByOne(unhindered, DELIVERIES);
    const plain = { ...NOTHING, ...succeeded.dispatch };
    const batch = { ...NOTHING, ...batches.dispatch };
    const atFast = ofFunction(await run.taken(QUIET_MS), 'dispatch');
    await allEnded(unhindered, 2 * DELIVERIES);
    const deliveries = times(plain, DELIVERIES);
    const turn = times(
      minus(minus(atFast, times(batch, atFast.invocations)), deliveries),
      1 / atFast.invocations,
    );

    const hindered = await aSender(run, receivers, [SUCCEEDS], { maxPerSecond: SLOW });
    await run.taken(QUIET_MS);
    await atOnce(hindered, DELIVERIES);
    await allEnded(hindered, DELIVERIES);
    const atSlow = ofFunction(await run.taken(QUIET_MS), 'dispatch');
    const invoked = times(plus(batch, turn), atSlow.invocations);
    return {
      turn: workOf(turn),
      queuedWait: workOf(times(minus(minus(atSlow, invoked), deliveries), 1 / atSlow.messages)),
    };
  } finally {
    await receivers.stop();
  }
}
