import * as z from 'zod/mini';
import {
  DeliveryId,
  deriveDeliveryId,
  deriveJobDeliveryId,
  EventId,
  newId,
  parseCreationTime,
  ReceiverId,
  RedeliveryJobId,
  type TraceId,
  withTrace,
} from '../aws/ids.ts';
import { type AddressedEvent, HISTORY_DAYS, isExample, isFor, type OutboxEvent } from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { type Delivery, DeliveryMessage, OPEN_STATUSES } from './delivery.ts';

/** Why a delivery cannot be resent. */
export type RedeliveryRefusal = 'still-open' | 'endpoint-disabled' | 'event-expired' | 'not-subscribed';

export type Redelivery =
  | { kind: 'redeliver'; delivery: Delivery }
  | { kind: 'refused'; why: RedeliveryRefusal };

/**
 * Creates the delivery that resends a finished one's event, however that ended (docs/specification.md,
 * Redelivery). It has all attempts ahead and an id of its own. Its `webhook-id` is the event's, so a receiver
 * that has processed the event ignores it.
 */
export function createRedelivery(
  delivery: Delivery,
  endpoint: Pick<Endpoint, 'id' | 'status' | 'events'>,
  now: Date,
  traceId?: TraceId,
): Redelivery {
  if (OPEN_STATUSES.some((open) => open === delivery.status)) return { kind: 'refused', why: 'still-open' };
  if (endpoint.status === 'auto_disabled') return { kind: 'refused', why: 'endpoint-disabled' };
  if (isTooOld(delivery.eventId, now)) return { kind: 'refused', why: 'event-expired' };
  if (!isForStill(delivery, endpoint)) return { kind: 'refused', why: 'not-subscribed' };
  return { kind: 'redeliver', delivery: repeatDelivery(delivery, newId('dlv', now), now, traceId) };
}

/**
 * Whether the event of an endpoint's delivery is for that endpoint now. The event was for it once, so it
 * names no other receiver.
 */
export const isForStill = (
  { eventType }: Pick<Delivery, 'eventType'>,
  endpoint: Pick<Endpoint, 'id' | 'events'>,
): boolean => isFor({ type: eventType, onlyTo: endpoint.id }, endpoint);

const MS_PER_DAY = 86_400_000;

/** Whether the history no longer shows the event. */
export const isTooOld = (event: EventId, now: Date): boolean =>
  now.getTime() - parseCreationTime(event).getTime() > HISTORY_DAYS * MS_PER_DAY;

/** Creates a delivery of an event with all attempts ahead. It repeats an earlier one, if there was one. */
export const repeatDelivery = (
  repeated: Pick<Delivery, 'orgId' | 'generation' | 'webhookId' | 'eventId' | 'eventType'> &
    Partial<Pick<Delivery, 'id'>>,
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
  ...(repeated.id === undefined ? {} : { redeliveryOf: repeated.id }),
  ...withTrace(traceId),
});

/** Fields that tell why a delivery exists. */
type Named = Pick<Delivery, 'id' | 'eventId' | 'webhookId'>;

/** Whether this is the event's own delivery to the endpoint. Others of the same event repeat it. */
export const isFirstDelivery = ({ id, eventId, webhookId }: Named): boolean =>
  id === deriveDeliveryId(eventId, webhookId);

export const isFromJob = ({ id, eventId, webhookId }: Named): boolean =>
  id === deriveJobDeliveryId(eventId, webhookId, parseCreationTime(id));

/**
 * Message group in a fair queue: the organization. SQS holds back a group with more than a tenth of the
 * messages in flight (SQS Developer Guide, fair queues); one group per endpoint could stay below that.
 * Redelivery jobs have a second group, so that new events do not wait behind them.
 */
export const getMessageGroup = (deliveryMessage: DeliveryMessage): string =>
  isFromJob(deliveryMessage) ? `${deliveryMessage.orgId}/redelivery` : deliveryMessage.orgId;

/** Whether a user waits for this delivery: a test, or a single redelivery. Redeliveries of a job are not. */
export const isRequestedByCustomer = (delivery: Named, event: AddressedEvent): boolean =>
  !isFromJob(delivery) && (event.type === 'webhook.test' || isExample(event) || !isFirstDelivery(delivery));

/**
 * The latest redelivery of an event at a receiver, and how it ended. The failed delivery keeps its state, so
 * redelivery jobs and the event log find here what became of its event.
 */
export const RedeliveryRecord = z.object({
  eventId: EventId,
  webhookId: ReceiverId,
  /** The latest redelivery: jobs pass over the event while it is open. */
  deliveryId: DeliveryId,
  /** The latest redelivery by a job, and that job: it recognizes its own after a later single redelivery. */
  jobDeliveryId: z.optional(DeliveryId),
  redeliveryId: z.optional(RedeliveryJobId),
  /** The first redelivery that succeeded: the event has arrived, however later ones end. */
  succeededId: z.optional(DeliveryId),
});
export type RedeliveryRecord = z.infer<typeof RedeliveryRecord>;

/**
 * Outbox entry of a redelivery, or of a retry that a user requested: its delivery was committed with it, so
 * only the message is to be sent.
 */
export const RedeliveryOrder = z.object({
  kind: z.literal('redelivery'),
  deliveryMessage: DeliveryMessage,
  /** Of a retry: the attempts that the delivery has had. */
  retryAfter: z.optional(z.int()),
});
export type RedeliveryOrder = z.infer<typeof RedeliveryOrder>;

/**
 * Work of an outbox entry: create the deliveries of an event and send their messages, or send the message of
 * a redelivery.
 */
export type OutboxWork = { kind: 'event'; event: OutboxEvent } | RedeliveryOrder;

/** What a job reads of a delivery, or of an event that the endpoint has no delivery of. */
export type ExaminedDelivery = Pick<Delivery, 'eventId' | 'eventType'> &
  Partial<Pick<Delivery, 'id' | 'status'>>;
