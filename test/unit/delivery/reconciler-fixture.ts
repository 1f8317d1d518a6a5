import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { type DeliveryId, newId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import {
  RESENT_IN_BACKLOG,
  type ReconcilePorts,
  reconcileDeliveries,
} from '../../../functions/delivery/reconcile.ts';
import { DEFAULT_GRACE_SECONDS, RECONCILE_EVERY_SECONDS } from '../../../functions/delivery/timing.ts';
import type { DueState } from '../../../functions/tenancy/keys.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryLanes } from '../../doubles/memory-lanes.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

export const GRACE = DEFAULT_GRACE_SECONDS;
export const LOOKAHEAD = 1.5 * RECONCILE_EVERY_SECONDS;
/** A run that has time for everything. */
export const IN_FULL = () => true;

// Few enough for a test to exceed them.
Object.assign(RESENT_IN_BACKLOG, { ofOrganization: 2, inAll: 50 });

export const inSeconds = (count: number): Date => later(NOW, seconds(count));

/**
 * The reconciler over stores and queues in memory. `runWith` replaces some of its ports.
 * @param terms.pageSize rows of a page of the due index, at most
 * @param terms.isSharded whether deliveries are in all shards of the due index, and not in one
 */
export function aReconciler({
  pageSize = Number.POSITIVE_INFINITY,
  isSharded = false,
}: {
  pageSize?: number;
  isSharded?: boolean;
} = {}) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const endpoints = new MemoryEndpoints();
  endpoints.service.pass = async (operation, input, answer) => {
    if (operation === 'Query' && input.Limit !== undefined) input.Limit = Math.min(input.Limit, pageSize);
    return answer();
  };
  const deliveries = memoryDeliveries(endpoints);
  const due = deliveries.dueIndex;
  const lanes = new MemoryLanes({ now: clock.now, visibilitySeconds: 30, maxReceives: 100 });

  const runWith = (replaced: Partial<ReconcilePorts> = {}) =>
    reconcileDeliveries({ due, queues: lanes, log, now: clock.now, ...replaced }, { graceSeconds: GRACE });

  function newDeliveryId(born: Date): DeliveryId {
    let id = newId('dlv', born);
    while (!isSharded && keys.dueOf('parked', id) !== keys.due('parked', 0)) id = newId('dlv', born);
    return id;
  }

  /** Puts a delivery into the due index. */
  async function put(
    state: DueState,
    dueAt: Date,
    changes: Partial<Delivery> & { born?: Date } = {},
  ): Promise<Delivery> {
    const { born = NOW, ...fields } = changes;
    const delivery = aDelivery({
      id: newDeliveryId(born),
      status: 'retrying',
      attempts: 1,
      ...(state === 'parked' ? { nextRetryAt: dueAt.toISOString(), parked: true } : {}),
      ...fields,
    });
    await deliveries.add(delivery);
    deliveries.putDue(delivery, state, dueAt);
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
