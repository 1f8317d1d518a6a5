import * as z from 'zod/mini';
import { assign, expression, unchanged } from '../aws/expression.ts';
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
import { getMany, readRows, type Table, toExpiry } from '../aws/table.ts';
import { buildUpdate, type Change } from '../aws/transaction.ts';
import {
  type AddressedEvent,
  EVENT_DAYS,
  HISTORY_DAYS,
  isExample,
  isFor,
  type OutboxEvent,
  type Subscriber,
  TEST_TYPES,
} from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { type Delivery, DeliveryMessage, isOpen } from './delivery.ts';

/**
 * Creates the delivery that resends a finished one's event, however that ended (docs/specification.md,
 * Redelivery). It has all attempts ahead and an id of its own. Its `webhook-id` is the event's, so a receiver
 * that has processed the event ignores it.
 */
export function createRedelivery(
  delivery: Delivery,
  endpoint: Pick<Endpoint, 'id' | 'status'> & Subscriber,
  now: Date,
  traceId?: TraceId,
) {
  if (isOpen(delivery)) return { kind: 'refused', why: 'still-open' } as const;
  if (endpoint.status !== 'active') return { kind: 'refused', why: endpoint.status } as const;
  if (isTooOld(delivery.eventId, now)) return { kind: 'refused', why: 'event-expired' } as const;
  if (delivery.erased) return { kind: 'refused', why: 'erased' } as const;
  if (!isForStill(delivery, endpoint)) return { kind: 'refused', why: 'not-subscribed' } as const;
  return { kind: 'redeliver', delivery: repeatDelivery(delivery, newId('dlv', now), now, traceId) } as const;
}

/**
 * Whether the event of an endpoint's delivery is for that endpoint now. The event was for it once, so it
 * names no other receiver.
 */
export const isForStill = (
  { eventType, filterValues, erased }: Pick<Delivery, 'eventType' | 'filterValues' | 'erased'>,
  endpoint: Subscriber & Pick<Endpoint, 'id'>,
): boolean => isFor({ type: eventType, onlyTo: endpoint.id, filterValues, erased }, endpoint);

/** Whether the history no longer shows the event. */
export const isTooOld = (event: EventId, now: Date): boolean =>
  now.getTime() - parseCreationTime(event).getTime() > HISTORY_DAYS * 86_400_000;

/** Creates a delivery of an event with all attempts ahead. It repeats an earlier one, if there was one. */
export const repeatDelivery = (
  repeated: Pick<
    Delivery,
    'orgId' | 'generation' | 'webhookId' | 'eventId' | 'eventType' | 'filterValues' | 'conversationId'
  > &
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
  ...(repeated.filterValues && { filterValues: repeated.filterValues }),
  ...(repeated.conversationId && { conversationId: repeated.conversationId }),
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
  !isFromJob(delivery) && (TEST_TYPES.includes(event.type) || isExample(event) || !isFirstDelivery(delivery));

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

const buildKey = (delivery: Delivery) =>
  keys.redeliveryRecord(delivery, delivery.webhookId, delivery.eventId);

/** What each change of a record sets: it is kept as long as the event. */
const getBasis = ({ eventId, webhookId, orgId, generation }: Delivery) => ({
  eventId,
  webhookId,
  expiresAt: toExpiry(parseCreationTime(eventId), EVENT_DAYS),
  ...buildSandboxMark({ orgId, generation }),
});

/**
 * Records a redelivery as the latest of its event, in the transaction that adds it.
 * @param ofJob the job that adds it, and the record as it was read: refused as `redelivery-overtaken` when
 * another one was added since. That of a single redelivery is never refused
 */
export function recordRedelivery(
  service: Pick<Table, 'name'>,
  delivery: Delivery,
  ofJob?: { job: { id: RedeliveryJobId }; read: Partial<RedeliveryRecord> },
): Change {
  const { id: deliveryId } = delivery;
  const set = {
    ...getBasis(delivery),
    deliveryId,
    ...(ofJob && { jobDeliveryId: deliveryId, redeliveryId: ofJob.job.id }),
  };
  return buildUpdate(service, buildKey(delivery), {
    refusal: 'redelivery-overtaken',
    update: expression`SET ${assign(set)}`,
    if: ofJob && unchanged(ofJob.read, ['deliveryId']),
  });
}

/**
 * Records that a redelivery succeeded, in the transaction that settles it. Never refused; the first success
 * stays. In a row of its own, because an update of the failed delivery would appear in the stream as a second
 * end.
 */
export function recordSuccess(service: Pick<Table, 'name'>, delivery: Delivery): Change {
  const { id } = delivery;
  return buildUpdate(service, buildKey(delivery), {
    refusal: 'exists',
    update: expression`SET ${assign(getBasis(delivery))},
      deliveryId = if_not_exists(deliveryId, ${id}), succeededId = if_not_exists(succeededId, ${id})`,
  });
}

/**
 * Reads the records of those pairs of an event and a receiver that have one. Consistently: a caller that has
 * seen the success expects the event not to be resent.
 * @param pairs without repetition
 * @throws Throttled when DynamoDB keeps returning unprocessed keys
 */
export const redeliveryRecords =
  (service: Table) =>
  async (
    tenant: Tenant,
    pairs: readonly { eventId: EventId; webhookId: ReceiverId }[],
  ): Promise<RedeliveryRecord[]> => {
    const wanted = pairs.map(({ eventId, webhookId }) => keys.redeliveryRecord(tenant, webhookId, eventId));
    const rows = await getMany(service, wanted, { consistent: true });
    return readRows(service, rows, (row) => RedeliveryRecord.parse(row));
  };
