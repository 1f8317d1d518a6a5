import { count, facts } from 'terminal/grid.ts';
import type { Log } from '../../functions/aws/log-codes.ts';
import { dueIndex } from '../../functions/delivery/due-index.ts';
import { mapLanes } from '../../functions/delivery/lanes.ts';
import { deliveryQueues } from '../../functions/delivery/queues.ts';
import { reconcileDeliveries } from '../../functions/delivery/reconcile.ts';
import { DEFAULT_GRACE_SECONDS } from '../../functions/delivery/timing.ts';
import { type Context, confirmed, type Report, resource, tableOf } from './context.ts';

/** Time after which a run starts no further page; the service's own run comes a minute later. */
const RUN_MS = 60_000;

/** The return value has everything that is logged. */
const SILENT: Log = () => undefined;

/**
 * `reconcile now`: runs the service's reconciler here. With a concurrent scheduled run it sends at most a
 * duplicate delivery message, which has no effect.
 */
export async function reconcileNow(context: Context): Promise<Report> {
  const { now, paint, clients, place } = context;
  const urls = mapLanes((lane) => resource(place, 'queues', lane));
  const due = dueIndex(tableOf(context, 'deliveries'));
  if (!confirmed(context, 'Messages for due deliveries that have none would be sent'))
    return {
      text: `  ${paint('yellow', '–')} Messages for due deliveries that have none would be sent: "status" says how many. Nothing was done.`,
      data: { dryRun: true },
    };
  const run = reconcileDeliveries(
    { due, queues: deliveryQueues(clients.sqs, (lane) => urls[lane], now), log: SILENT, now },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );
  const end = now().getTime() + RUN_MS;
  const done = await run(() => now().getTime() < end);
  const text = facts(
    [
      ['resumed', `${count(done.resumed)} parked deliveries have a message again`],
      ['resent', `${count(done.resent)} late ones have another one`],
      [
        'deferred',
        `${count(done.deferred)} late ones were left alone: their message waits in the backlog of the queue`,
      ],
      ['expired', `${count(done.expired)} were given up after three days`],
      ['refused', `${count(done.refused)} were not taken by the queue; the next run finds them`],
    ],
    paint,
  );
  const rest = done.complete ? '' : '\n\n  There is more that is due: run it again.';
  return { text: `${text}${rest}`, data: done, attention: !done.complete };
}
