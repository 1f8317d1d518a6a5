import { memoize } from '../aws/cache.ts';
import { collectFailures, mapConcurrently, mapSettled } from '../aws/concurrency.ts';
import type { OrgId, ReceiverId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { getNamedReceiver, isFor, type OutboxEvent } from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { endpointStore } from '../receivers/endpoints.ts';
import { computePace } from '../receivers/pace.ts';
import { createGenerationCheck, type OrganizationStates } from '../tenancy/organizations.ts';
import { createDelivery, type DeliveryMessage, toDeliveryMessage } from './delivery.ts';
import { chooseFirstLane, type FirstLane } from './lanes.ts';
import type { deliveryQueues } from './queues.ts';
import { isRequestedByCustomer, type OutboxWork } from './redelivery.ts';
import type { deliveryStore } from './rows.ts';

export interface FanOutPorts {
  subscribers: Pick<ReturnType<typeof endpointStore>, 'all' | 'find'>;
  deliveries: Pick<ReturnType<typeof deliveryStore>, 'add'>;
  queues: Pick<ReturnType<typeof deliveryQueues<FirstLane>>, 'send'>;
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
}

/** A delivery to attempt, and its queue. */
interface DueMessage {
  message: DeliveryMessage;
  lane: FirstLane;
}

/** Concurrent conditional puts. */
const CONCURRENCY = 32;

/**
 * Processes outbox entries: for an event, adds one delivery per recipient and sends the messages of open
 * ones; for a redelivery, sends its message. A crash and repetition are safe: ids are derived, puts are
 * conditional, and an extra message changes nothing. A delivery that exists already gets a message as well,
 * because the run that added it may have crashed. Entries of an older sandbox generation are dropped.
 * @returns the entries to retry
 */
export function fanOut({ subscribers, deliveries, queues, organizations, log, now }: FanOutPorts) {
  return async (batch: readonly OutboxWork[]): Promise<OutboxWork[]> => {
    const failed = new Set<OutboxWork>();
    const listEndpoints = memoize((orgId: OrgId) => subscribers.all(orgId));
    const findReceiver = memoize(
      ({ orgId, id }: { orgId: OrgId; id: ReceiverId }) => subscribers.find(orgId, id),
      ({ orgId, id }) => `${orgId}/${id}`,
    );
    const checkGeneration = createGenerationCheck({ of: memoize((orgId: OrgId) => organizations.of(orgId)) });

    const fail = (work: OutboxWork, error: unknown) => {
      failed.add(work);
      log('FAN_OUT_FAILED', { ...getLogFields(work), error });
    };

    async function findRecipients(event: OutboxEvent): Promise<Endpoint[]> {
      const { orgId } = event;
      const id = getNamedReceiver(event);
      const receivers = id === undefined ? await listEndpoints(orgId) : [await findReceiver({ orgId, id })];
      return receivers.flatMap((receiver) => (receiver && isFor(event, receiver) ? [receiver] : []));
    }

    async function addDelivery(event: OutboxEvent, endpoint: Endpoint): Promise<DueMessage[]> {
      const delivery = createDelivery(event, endpoint, now());
      const result = await deliveries.add(delivery);
      // An existing delivery may be open although a new one would be skipped: the endpoint was active when it
      // was added.
      if (delivery.status !== 'pending' && result === 'added') return [];
      const message = { ...toDeliveryMessage(delivery), traceId: event.traceId };
      const isRequested = isRequestedByCustomer(delivery, event);
      return [{ message, lane: chooseFirstLane(computePace(endpoint.pace, now()), isRequested) }];
    }

    /** A delivery that cannot be added does not block the event's others. */
    async function addDeliveries(work: OutboxWork, event: OutboxEvent): Promise<DueMessage[]> {
      const recipients = await findRecipients(event);
      const added = await mapSettled(recipients, recipients.length, (endpoint) =>
        addDelivery(event, endpoint),
      );
      for (const { error } of collectFailures(recipients, added)) fail(work, error);
      const open = added.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      const { id: eventId, orgId, traceId } = event;
      log('EVENT_FANNED_OUT', { eventId, orgId, deliveryMessages: open.length, traceId });
      return open;
    }

    const due = await mapConcurrently(batch, CONCURRENCY, async (work) => {
      try {
        if ((await checkGeneration(work.kind === 'event' ? work.event : work.deliveryMessage)) === 'over')
          return [];
        const open: DueMessage[] =
          work.kind === 'event'
            ? await addDeliveries(work, work.event)
            : [{ message: work.deliveryMessage, lane: 'fresh' }];
        return open.map((message) => ({ ...message, work }));
      } catch (error) {
        fail(work, error);
        return [];
      }
    });

    const byLane = Map.groupBy(due.flat(), ({ lane }) => lane);
    const refused = await Promise.all([...byLane].map(([lane, messages]) => queues.send(lane, messages)));
    for (const { item, error } of refused.flat()) {
      failed.add(item.work);
      log('REMINDER_REFUSED', { ...getLogFields(item.work), error });
    }
    return [...failed];
  };
}

/** Ids for the log. */
function getLogFields(work: OutboxWork) {
  if (work.kind === 'event') return { eventId: work.event.id, traceId: work.event.traceId };
  const { id: deliveryId, eventId, traceId } = work.deliveryMessage;
  return { eventId, deliveryId, traceId };
}
