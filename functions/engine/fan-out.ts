import {
  type Delivery,
  type DeliveryMessage,
  newDelivery,
  type OutgoingMessage,
  toDeliveryMessage,
} from '../domain/delivery.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { OutboxEvent } from '../domain/events.ts';
import { type OrgId, type ReceiverId, withTrace } from '../domain/ids.ts';
import { chooseFirstLane, type FirstLane } from '../domain/lanes.ts';
import { memoize } from '../domain/memoize.ts';
import { isRequestedByCustomer, type OutboxWork } from '../domain/redelivery.ts';
import { createGenerationCheck, type OrganizationStates } from '../domain/sandbox.ts';
import type { Log } from '../platform/log-codes.ts';
import { collectFailures, mapConcurrently, mapSettled } from './concurrency.ts';

export interface FanOutPorts {
  subscribers: {
    all(orgId: OrgId): Promise<Endpoint[]>;
    /** A webhook endpoint or a channel. */
    find(orgId: OrgId, id: ReceiverId): Promise<Endpoint | undefined>;
  };
  deliveries: { add(delivery: Delivery): Promise<'added' | 'exists'> };
  /** Gives back the reminders that the lane did not take. */
  queues: { send(lane: FirstLane, messages: readonly OutgoingMessage[]): Promise<DeliveryMessage[]> };
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
}

/** A delivery that is to be attempted, and where. */
interface Due {
  message: DeliveryMessage;
  lane: FirstLane;
}

/** Conditional puts under way at once. */
const CONCURRENCY = 32;

/**
 * Deals with what the outbox owes: makes, for each event, one delivery for each endpoint that is to have it,
 * and sends a reminder of each that is open; sends the reminder of each redelivery, whose delivery was
 * committed with it. It may crash anywhere and be repeated: identifiers are derived, puts are conditional,
 * and a reminder too many changes nothing. That is why one is also sent for a delivery that already exists:
 * the run that added it may have ended before its own. What a reset has wiped is dropped.
 * @returns what has to be tried again
 */
export function fanOut({ subscribers, deliveries, queues, organizations: standings, log, now }: FanOutPorts) {
  return async (batch: readonly OutboxWork[]): Promise<OutboxWork[]> => {
    const failed = new Set<OutboxWork>();
    const endpointsOf = memoize((orgId: OrgId) => subscribers.all(orgId));
    const receiverOf = memoize(
      ({ orgId, id }: { orgId: OrgId; id: ReceiverId }) => subscribers.find(orgId, id),
      ({ orgId, id }) => `${orgId}/${id}`,
    );
    const generationOf = createGenerationCheck({ of: memoize((orgId: OrgId) => standings.of(orgId)) });

    const fail = (owed: OutboxWork, error: unknown) => {
      failed.add(owed);
      log('FAN_OUT_FAILED', { ...listWorkNames(owed), error });
    };

    /**
     * An event for one receiver alone goes to it whatever it subscribes to; every other event goes to who
     * subscribed.
     */
    async function recipientsOf({ orgId, type, onlyTo }: OutboxEvent): Promise<Endpoint[]> {
      if (onlyTo !== undefined) {
        const receiver = await receiverOf({ orgId, id: onlyTo });
        return receiver === undefined ? [] : [receiver];
      }
      return (await endpointsOf(orgId)).filter(({ events }) => events.some((wanted) => wanted === type));
    }

    async function addDelivery(event: OutboxEvent, endpoint: Endpoint): Promise<Due[]> {
      const delivery = newDelivery(event, endpoint, now());
      const result = await deliveries.add(delivery);
      // One that exists may be open although a new one would not: its endpoint was active when it was added.
      if (delivery.status !== 'pending' && result === 'added') return [];
      const deliveryMessage = { ...toDeliveryMessage(delivery), ...withTrace(event.traceId) };
      return [
        {
          message: deliveryMessage,
          lane: chooseFirstLane(endpoint, now(), isRequestedByCustomer(delivery, event)),
        },
      ];
    }

    /** A delivery that cannot be added holds up none of the event's others. */
    async function addDeliveries(owed: OutboxWork, event: OutboxEvent): Promise<Due[]> {
      const recipients = await recipientsOf(event);
      const added = await mapSettled(recipients, recipients.length, (each) => addDelivery(event, each));
      for (const { error } of collectFailures(recipients, added)) fail(owed, error);
      const open = added.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      log('EVENT_FANNED_OUT', {
        eventId: event.id,
        orgId: event.orgId,
        reminders: open.length,
        traceId: event.traceId,
      });
      return open;
    }

    async function sendAll(
      lane: FirstLane,
      messages: readonly (Due & { owed: OutboxWork })[],
    ): Promise<void> {
      const owing = new Map(messages.map(({ owed, message: deliveryMessage }) => [deliveryMessage.id, owed]));
      try {
        for (const { id } of await queues.send(lane, messages)) {
          const owed = owing.get(id);
          if (owed === undefined) continue;
          failed.add(owed);
          log('REMINDER_REFUSED', listWorkNames(owed));
        }
      } catch (error) {
        for (const { owed } of messages) fail(owed, error);
      }
    }

    const due = await mapConcurrently(batch, CONCURRENCY, async (owed) => {
      try {
        if ((await generationOf(owed.kind === 'event' ? owed.event : owed.reminder)) === 'over') return [];
        const open: Due[] =
          owed.kind === 'event'
            ? await addDeliveries(owed, owed.event)
            : [{ message: owed.reminder, lane: 'fresh' }];
        return open.map((one) => ({ ...one, owed }));
      } catch (error) {
        fail(owed, error);
        return [];
      }
    });

    const byLane = Map.groupBy(due.flat(), ({ lane }) => lane);
    await Promise.all([...byLane].map(([lane, messages]) => sendAll(lane, messages)));
    return [...failed];
  };
}

/** How the log names it. */
const listWorkNames = (owed: OutboxWork) =>
  owed.kind === 'event'
    ? { eventId: owed.event.id, traceId: owed.event.traceId }
    : { eventId: owed.reminder.eventId, deliveryId: owed.reminder.id, traceId: owed.reminder.traceId };
