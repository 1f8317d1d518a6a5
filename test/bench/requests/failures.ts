import { until } from 'aws-local/test/until.ts';
import type { DeliveryKind, Measured, Work } from '../../../lib/cost/measured.ts';
import {
  allEnded,
  aSender,
  atOnce,
  eachOf,
  FAILURES,
  type FailureKind,
  oneByOne,
  type Sender,
} from './deliveries.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { minus, ofFunction, plus, times } from './tally.ts';
import type { WatchedRun } from './watched-run.ts';
import { eachInvocation, workOf } from './work.ts';

/** The cost of a batch in the functions, to subtract from its records' cost. */
export interface Batches {
  dispatch: Work;
  watch: Work;
}

type Failures = Record<Exclude<DeliveryKind, 'succeeded'>, Measured['deliveries']['succeeded']>;

/** Longer than a wait between attempts. */
const QUIET_MS = 8_000;

/** Measures deliveries that do not succeed at once, of each kind. */
export async function measureFailures(run: WatchedRun, batches: Batches): Promise<Failures> {
  const receivers = await startReceivers(run.service.tls);
  try {
    const measured: Partial<Failures> = {};
    for (const failure of FAILURES)
      measured[failure.kind] = await measureFailure(run, receivers, batches, failure);
    const { retried, exhausted, skipped, timedOut } = measured;
    if (!retried || !exhausted || !skipped || !timedOut)
      throw new Error('a kind of failure was not measured');
    return { retried, exhausted, skipped, timedOut };
  } finally {
    await receivers.stop();
  }
}

async function measureFailure(
  run: WatchedRun,
  receivers: Receivers,
  batches: Batches,
  { kind, behaviour, deliveries }: FailureKind,
) {
  const sender = await aSender(run, receivers, [behaviour]);
  const before = kind === 'skipped' ? 0 : 1;
  if (before > 0) {
    // It starts the sandboxes, and marks an endpoint that hangs as slow.
    await sender.post();
    await allEnded(sender, before);
  }
  await run.taken(QUIET_MS);

  receivers.taken();
  // One after the other: while many wait for a processor, an endpoint that answers at once looks slow.
  await oneByOne(sender, deliveries);
  if (kind === 'skipped') await skipAll(run, sender, deliveries);
  else await allEnded(sender, before + deliveries);
  const tallies = await run.taken(QUIET_MS);
  const attempts = receivers.taken().requests / deliveries;
  sender.tenant.close();
  return {
    attempts,
    dispatch: workOf(eachOf(tallies, 'dispatch', batches.dispatch, deliveries)),
    watch: workOf(eachOf(tallies, 'delivery-stream', batches.watch, deliveries)),
  };
}

/** Waits until each delivery was attempted at least once. */
async function allAttempted({ tenant, endpoints: [id] }: Sender, count: number): Promise<void> {
  await until(
    `${count} deliveries to be attempted`,
    async () => {
      const all = await tenant.api.all(`/api/v1/webhooks/${id}/deliveries`);
      return all.filter(({ attempts }) => Number(attempts) > 0).length >= count;
    },
    60_000,
    100,
  );
}

/**
 * Deletes the endpoint between two attempts. A deleted endpoint lists no deliveries, so their ends are read
 * from the table.
 */
async function skipAll(run: WatchedRun, sender: Sender, count: number): Promise<void> {
  await allAttempted(sender, count);
  const { tenant, endpoints } = sender;
  const { status } = await tenant.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${endpoints[0]}` });
  if (status !== 204) throw new Error(`the endpoint was not deleted: ${status}`);
  await until(
    'deliveries to be skipped',
    async () => {
      const rows = await run.service.rows();
      const own = rows.filter(({ item }) => item.orgId === tenant.orgId && item.status === 'skipped');
      return own.length >= count;
    },
    60_000,
    500,
  );
}

const PARKED = 5;

/** Measures the additional cost of a wait that is parked and resumed, over one in a queue. */
export async function measureParked(
  run: WatchedRun,
  batches: Batches,
  retried: { dispatch: Work },
): Promise<Work> {
  const receivers = await startReceivers(run.service.tls);
  try {
    await run.service.invoke('reconcile');
    await run.taken();
    await run.service.invoke('reconcile');
    const idle = eachInvocation(ofFunction(await run.taken(), 'reconcile'));

    const sender = await aSender(run, receivers, [[500, 204]]);
    await atOnce(sender, PARKED);
    await allAttempted(sender, PARKED);
    await makeDue(run, sender);
    await run.service.invoke('reconcile');
    await allEnded(sender, PARKED);
    const tallies = await run.taken(QUIET_MS);
    sender.tenant.close();
    const reconcile = ofFunction(tallies, 'reconcile');
    const resumed = times(minus(reconcile, times(idle, reconcile.invocations)), 1 / PARKED);
    const parked = workOf(plus(eachOf(tallies, 'dispatch', batches.dispatch, PARKED), resumed));
    return over(parked, retried.dispatch);
  } finally {
    await receivers.stop();
  }
}

/** The difference of two. */
const over = (more: Work, less: Work): Work => ({
  writes: Math.max(0, more.writes - less.writes),
  reads: Math.max(0, more.reads - less.reads),
  sqsRequests: Math.max(0, more.sqsRequests - less.sqsRequests),
  busEntries: Math.max(0, more.busEntries - less.busEntries),
  requests: Math.max(0, more.requests - less.requests),
  logBytes: Math.max(0, more.logBytes - less.logBytes),
  logLines: Math.max(0, more.logLines - less.logLines),
  cpuMs: Math.max(0, more.cpuMs - less.cpuMs),
});

/** Lets the time of parked deliveries pass. */
async function makeDue({ service }: WatchedRun, { tenant }: Sender): Promise<void> {
  const past = new Date(Date.now() - 1000).toISOString();
  for (const row of await service.rows())
    if (row.item.orgId === tenant.orgId && row.item.dueAt !== undefined)
      await service.rewrite({ ...row, item: { ...row.item, dueAt: past, nextRetryAt: past } });
}
