import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { newId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import {
  RESENT_IN_BACKLOG,
  type ReconcilePorts,
  reconcileDeliveries,
} from '../../../functions/delivery/reconcile.ts';
import { DEFAULT_GRACE_SECONDS, RECONCILE_EVERY_SECONDS } from '../../../functions/delivery/timing.ts';
import { DUE_SHARDS, type DueState } from '../../../functions/tenancy/keys.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryDueIndex } from '../../doubles/memory-due-index.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { MemoryLanes } from '../../doubles/memory-lanes.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

export const GRACE = DEFAULT_GRACE_SECONDS;
export const LOOKAHEAD = 1.5 * RECONCILE_EVERY_SECONDS;
/** A run that has time for everything. */
export const IN_FULL = () => true;

// Few enough for a test to exceed them.
Object.assign(RESENT_IN_BACKLOG, { ofOrganization: 2, inAll: 50 });

export const inSeconds = (count: number): Date => later(NOW, seconds(count));

/** The reconciler over stores and queues in memory. `runWith` replaces some of its ports. */
export function aReconciler({ pageSize, shards = 1 }: { pageSize?: number; shards?: number } = {}) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const deliveries = new MemoryDeliveries(new MemoryEndpoints());
  const due = new MemoryDueIndex(deliveries, {
    sharded: shards === DUE_SHARDS,
    ...(pageSize === undefined ? {} : { pageSize }),
  });
  const lanes = new MemoryLanes({ now: clock.now, visibilitySeconds: 30, maxReceives: 100 });

  const runWith = (replaced: Partial<ReconcilePorts> = {}) =>
    reconcileDeliveries({ due, queues: lanes, log, now: clock.now, ...replaced }, { graceSeconds: GRACE });

  /** Puts a delivery into the due index. */
  async function put(
    state: DueState,
    dueAt: Date,
    changes: Partial<Delivery> & { born?: Date } = {},
  ): Promise<Delivery> {
    const { born = NOW, ...fields } = changes;
    const delivery = aDelivery({
      id: newId('dlv', born),
      status: 'retrying',
      attempts: 1,
      ...(state === 'parked' ? { nextRetryAt: dueAt.toISOString(), parked: true } : {}),
      ...fields,
    });
    await deliveries.add(delivery);
    deliveries.moveDue(delivery, undefined, { state, dueAt: dueAt.toISOString() });
    return delivery;
  }

  return {
    clock,
    log,
    deliveries,
    due,
    lanes,
    runWith,
    run: runWith(),
    put,
    /** The time at which the next message of the retry queue becomes visible. */
    nextVisible: () => lanes.queues.retry.nextVisibleAt(),
    sent: () => lanes.queues.retry.deliveryMessages.map(({ id }) => id),
  };
}
