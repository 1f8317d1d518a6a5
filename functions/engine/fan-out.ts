import { type Delivery, newDelivery, type Reminder } from '../domain/delivery.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { OutboxEvent } from '../domain/events.ts';
import type { OrgId } from '../domain/ids.ts';
import { mapConcurrently } from './concurrency.ts';
import type { Log } from './log.ts';

export interface FanOutPorts {
  subscribers: { all(orgId: OrgId): Promise<Endpoint[]> };
  deliveries: { add(delivery: Delivery): Promise<'added' | 'exists'> };
  /** Gives back the reminders that the queue did not take. */
  queue: { send(reminders: readonly Reminder[]): Promise<Reminder[]> };
  log: Log;
  now: () => Date;
}

/** Conditional puts under way at once. */
const CONCURRENCY = 32;

/**
 * Makes, for each event, one delivery for each endpoint that is to have it, and sends a reminder of each that is open. It may
 * crash anywhere and be repeated: identifiers are derived, puts are conditional, and a reminder too many changes nothing. That
 * is why one is also sent for a delivery that already exists: the run that added it may have ended before its own.
 * @returns the events that have to be tried again
 */
export function fanOut({ subscribers, deliveries, queue, log, now }: FanOutPorts) {
  return async (events: readonly OutboxEvent[]): Promise<OutboxEvent[]> => {
    const failed = new Set<OutboxEvent>();
    const endpointsOf = remembered((orgId: OrgId) => subscribers.all(orgId));

    const fail = (event: OutboxEvent, reason: unknown) => {
      failed.add(event);
      log.error('fan-out of an event failed and will be repeated', {
        eventId: event.id,
        reason: String(reason),
      });
    };

    const owed = await mapConcurrently(events, CONCURRENCY, async (event) => {
      try {
        const recipients = (await endpointsOf(event.orgId)).filter((endpoint) => receives(endpoint, event));
        return await Promise.all(
          recipients.map(async (endpoint) => {
            const delivery = newDelivery(event, endpoint, now());
            const result = await deliveries.add(delivery);
            // One that exists may be open although a new one would not: its endpoint was active when it was added.
            return { event, delivery, open: delivery.status === 'pending' || result === 'exists' };
          }),
        );
      } catch (reason) {
        fail(event, reason);
        return [];
      }
    });

    const open = owed.flat().filter((one) => one.open);
    const eventOf = new Map(open.map(({ event, delivery }) => [delivery.id, event]));
    try {
      const refused = await queue.send(open.map(({ delivery }) => reminderOf(delivery)));
      for (const { id } of refused) {
        const event = eventOf.get(id);
        if (event) fail(event, 'the queue refused its reminder');
      }
    } catch (reason) {
      for (const { event } of open) fail(event, reason);
    }
    return [...failed];
  };
}

/** An event for one endpoint alone reaches it whatever it subscribes to; every other event reaches who subscribed. */
function receives(endpoint: Endpoint, event: OutboxEvent): boolean {
  if (event.onlyTo !== undefined) return event.onlyTo === endpoint.id;
  return endpoint.events.some((type) => type === event.type);
}

const reminderOf = ({ id, orgId, generation, webhookId, eventId }: Delivery): Reminder => ({
  id,
  orgId,
  generation,
  webhookId,
  eventId,
});

/** Asks once for each key, however many ask at the same time. */
function remembered<K, V>(load: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const loaded = new Map<K, Promise<V>>();
  return (key) => {
    const value = loaded.get(key) ?? load(key);
    loaded.set(key, value);
    return value;
  };
}
