import * as z from 'zod/mini';
import { type Delivery, OPEN_STATUSES, Reminder } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import type { OutboxEvent } from './events.ts';
import {
  creationTime,
  DeliveryId,
  deliveryId,
  EventId,
  jobDeliveryId,
  newId,
  type TraceId,
  traced,
} from './ids.ts';

/** Days from its creation for which an event can be sent again; deliveries are kept for as long. */
export const HISTORY_DAYS = 30;

/**
 * Days for which an event is kept. Each attempt reads the body, so it has to outlive the attempts of a delivery that was sent again
 * at the last moment: these span 63.5 minutes, and 51 hours under the slowest retry policy that a deployment may set.
 */
export const EVENT_DAYS = HISTORY_DAYS + 3;

/** Why a delivery is not sent again. */
export type RedeliveryRefusal = 'still-open' | 'endpoint-disabled' | 'event-expired';

export type Redelivery =
  | { kind: 'redeliver'; delivery: Delivery }
  | { kind: 'refused'; why: RedeliveryRefusal };

/**
 * The new delivery that sends a finished one's event again, whatever its end was and however often that is asked for
 * (decisions.md, Deliveries: Redelivery). It has all its attempts before it, and an identifier of its own, so that receivers
 * which drop what they have seen by `webhook-id` take it. Whether the endpoint still subscribes to the event does not matter.
 */
export function redeliveryOf(
  delivery: Delivery,
  endpoint: Pick<Endpoint, 'status'>,
  now: Date,
  traceId?: TraceId,
): Redelivery {
  if (OPEN_STATUSES.some((open) => open === delivery.status)) return { kind: 'refused', why: 'still-open' };
  if (endpoint.status === 'auto_disabled') return { kind: 'refused', why: 'endpoint-disabled' };
  if (isTooOld(delivery.eventId, now)) return { kind: 'refused', why: 'event-expired' };
  return { kind: 'redeliver', delivery: repeating(delivery, newId('dlv', now), now, traceId) };
}

const MS_PER_DAY = 86_400_000;

/** Whether an event can no longer be sent again. */
export const isTooOld = (event: EventId, now: Date): boolean =>
  now.getTime() - creationTime(event).getTime() > HISTORY_DAYS * MS_PER_DAY;

/** A delivery that has all its attempts before it, of the event that another one had. */
export const repeating = (
  repeated: Pick<Delivery, 'id' | 'orgId' | 'generation' | 'webhookId' | 'eventId' | 'eventType'>,
  id: Delivery['id'],
  createdAt: Date,
  traceId: TraceId,
): Delivery => ({
  id,
  orgId: repeated.orgId,
  generation: repeated.generation,
  webhookId: repeated.webhookId,
  eventId: repeated.eventId,
  eventType: repeated.eventType,
  status: 'pending',
  attempts: 0,
  attemptLog: [],
  createdAt: createdAt.toISOString(),
  redeliveryOf: repeated.id,
  ...traced(traceId),
});

/** What of a delivery says why it is there: its identifier, and what that was derived from. */
type Named = Pick<Delivery, 'id' | 'eventId' | 'webhookId'>;

/** Whether an event owed this delivery, of which there is one for each endpoint; whatever else there is of that event repeats it. */
export const isFirst = ({ id, eventId, webhookId }: Named): boolean => id === deliveryId(eventId, webhookId);

/** Whether a redelivery job made this delivery. */
export const isOfJob = ({ id, eventId, webhookId }: Named): boolean =>
  id === jobDeliveryId(eventId, webhookId, creationTime(id));

/**
 * The message group in a fair queue: the organization. SQS holds back a group with more than a tenth of the
 * messages in flight (SQS Developer Guide, fair queues); fifty groups of one organization, one for each
 * endpoint, would stay below that. Redelivery jobs send hundreds of messages and have a second group, so that
 * new events do not wait behind them.
 */
export const messageGroupOf = (reminder: Reminder): string =>
  isOfJob(reminder) ? `${reminder.orgId}/redelivery` : reminder.orgId;

/**
 * Whether a person asked for this delivery and waits to see it: a test, or one that repeats another, whose identifier no event gives. One of a job is
 * one of many, and waits for its turn like those of events.
 */
export const isAskedFor = (delivery: Named, { type }: Pick<OutboxEvent, 'type'>): boolean =>
  !isOfJob(delivery) && (type === 'webhook.test' || !isFirst(delivery));

/**
 * That an event has arrived at an endpoint by a redelivery, and by which: the delivery that failed says so for ever, and a redelivery job has to know better.
 * First deliveries need none. Redeliveries that succeeded before this was noted have none either.
 */
export const Arrival = z.object({ eventId: EventId, deliveryId: DeliveryId });
export type Arrival = z.infer<typeof Arrival>;

/** What the outbox holds for a redelivery: its delivery was committed with it, so that only the reminder is owed. */
export const RedeliveryOrder = z.object({ kind: z.literal('redelivery'), reminder: Reminder });
export type RedeliveryOrder = z.infer<typeof RedeliveryOrder>;

/** What an entry of the outbox owes: an event its deliveries with their reminders, a redelivery its reminder. */
export type Owed = { kind: 'event'; event: OutboxEvent } | RedeliveryOrder;
