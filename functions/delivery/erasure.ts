import { assign, attribute, expression } from '../aws/expression.ts';
import {
  type ConversationId,
  deriveDeliveryId,
  deriveEventId,
  EscalationId,
  EventId,
  MessageId,
  type ReceiverId,
  TicketId,
  type TraceId,
} from '../aws/ids.ts';
import { EXISTS, getMany, type Key, query, readRows, removeMany, type Table, update } from '../aws/table.ts';
import type { Change } from '../aws/transaction.ts';
import type { Conversation } from '../conversations/conversations.ts';
import { type Erasure, erasureStore } from '../conversations/erasures.ts';
import { buildEvent, eraseEvent, getNamedReceiver, OutboxEvent } from '../events/events.ts';
import { endpointStore } from '../receivers/endpoints.ts';
import { type Kept, keys } from '../tenancy/keys.ts';
import type { Purge, Remains } from '../tenancy/purge.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { type Delivery, type DeliveryRef, eraseAttempts, isOpen } from './delivery.ts';
import { outboxStore } from './outbox.ts';
import { redeliveryRecords } from './redelivery.ts';
import { buildDeliveryKey, buildErasedUpdate, deliveryStore, updateDelivery } from './rows.ts';

/** Erases conversations, and tells the endpoints, in one transaction. */
export const erasing =
  ({ service, outbox }: Record<'service' | 'outbox', Table>) =>
  (
    erasure: Erasure,
    conversations: readonly Conversation[],
    context: { tenant: Tenant; now: Date; traceId?: TraceId },
  ): Change[] => [
    ...erasureStore(service).add(context.tenant, erasure, conversations),
    ...conversations.map(({ id }) =>
      outboxStore(outbox).append(buildEvent('conversation.deleted', { conversationId: id }, context)),
    ),
  ];

/** Rows of a page: each may name two events, and each event a delivery at every endpoint. */
const ROWS = 25;
/** Endpoints deleted in the last 31 days that may have had deliveries. */
const MAX_DELETED = 50;

/**
 * What belongs to erased conversations: messages, escalations, tickets, the texts of their events, and what
 * attempts keep of requests and responses. Ids of events and deliveries derive from those of the records, so
 * that nothing is searched for. A record is deleted last: until then it names what is left.
 */
export function erasedConversations(
  { service, outbox, deliveries }: Record<'service' | 'outbox' | 'deliveries', Table>,
  now: () => Date,
): Remains {
  const endpoints = endpointStore(service);
  const { findAll } = deliveryStore(deliveries);
  const findRecords = redeliveryRecords(service);

  async function findReceivers({ orgId }: Tenant): Promise<ReceiverId[]> {
    const existing = await endpoints.all(orgId);
    const deleted = await endpoints.deletedSince(orgId, new Date(0).toISOString(), MAX_DELETED);
    return [...new Set([...existing, ...deleted].map(({ id }) => id))];
  }

  /** The events' own deliveries, and of those that repeat them the ones that their records name. */
  async function findDeliveries(order: Purge, events: readonly OutboxEvent[]): Promise<Delivery[]> {
    const receivers = await findReceivers(order);
    const pairs = events.flatMap((event) => {
      const named = getNamedReceiver(event);
      return (named === undefined ? receivers : [named]).map((webhookId) => ({
        eventId: event.id,
        webhookId,
      }));
    });
    const records = await findRecords(order, pairs);
    const refs: DeliveryRef[] = [
      ...pairs.map(({ eventId, webhookId }) => ({ id: deriveDeliveryId(eventId, webhookId), webhookId })),
      ...records.flatMap(({ webhookId, deliveryId, jobDeliveryId, succeededId }) =>
        [deliveryId, jobDeliveryId, succeededId].flatMap((id) =>
          id === undefined ? [] : [{ id, webhookId }],
        ),
      ),
    ].map((ref) => ({ ...ref, generation: order.generation }));
    return findAll([...new Map(refs.map((ref) => [ref.id, ref])).values()]);
  }

  /** Ends an open delivery, also during an attempt: its result would have a text again. */
  async function endDelivery(delivery: Delivery): Promise<void> {
    if (isOpen(delivery)) await updateDelivery(deliveries, buildErasedUpdate(delivery, now()));
  }

  async function eraseDelivery(delivery: Delivery): Promise<void> {
    const { attemptLog, filterValues, erased } = delivery;
    const hasText = attemptLog.some(({ request, response }) => (request ?? response) !== undefined);
    if (erased || !(hasText || filterValues)) return;
    const left = eraseAttempts(delivery);
    await update(deliveries, buildDeliveryKey(delivery), {
      update: expression`SET ${assign({ attemptLog: left.attemptLog, erased: true })} REMOVE filterValues`,
      if: EXISTS,
    });
  }

  async function eraseEvents(order: Purge, ids: readonly EventId[]): Promise<void> {
    const wanted = ids.map((id) => keys.event(order, id));
    const rows = await getMany(outbox, wanted, { consistent: true });
    const events = readRows(outbox, rows, (row) => OutboxEvent.parse(row));
    for (const event of events) {
      const { body } = eraseEvent(event);
      await update(outbox, keys.event(order, event.id), {
        update: expression`SET ${assign({ body, erased: true })} REMOVE filterValues`,
        if: EXISTS,
      });
    }
    // From here on no attempt has a text to send.
    const own = await findDeliveries(order, events);
    for (const delivery of own) await endDelivery(delivery);
    for (const delivery of await findAll(own)) await eraseDelivery(delivery);
  }

  /** The key stays used, so that a replay is refused. After a day it may be that of another request. */
  async function eraseKept({ keptAs, conversationId }: Row): Promise<void> {
    if (keptAs === undefined) return;
    await update(
      service,
      { pk: keptAs, sk: 'idempotency' },
      {
        update: expression`SET ${assign({ data: JSON.stringify({ conversationId }) })}`,
        if: expression`contains(${attribute('data')}, ${conversationId})`,
      },
    );
  }

  return {
    async find(order, limit) {
      for (const id of order.conversationIds ?? [])
        for (const pk of [keys.messages, keys.escalations, keys.conversationLinks].map((of) =>
          of(order, id),
        )) {
          const where = expression`pk = ${pk}`;
          const { rows } = await query(service, {
            where,
            attributes: ['pk', 'sk', 'keptAs'],
            limit: Math.min(limit, ROWS),
          });
          if (rows.length > 0)
            return rows.map(({ sk, keptAs }) => ({
              ...{ pk, sk: String(sk), conversationId: id },
              ...(keptAs ? { keptAs: String(keptAs) } : {}),
            }));
        }
      return [];
    },

    async remove(rows: readonly Row[], order) {
      const parts = rows.map((row) => parseRecord(order, row));
      await eraseEvents(
        order,
        parts.flatMap(({ events }) => events),
      );
      await removeMany(
        service,
        parts.flatMap(({ linked }) => linked),
      );
      for (const row of rows) await eraseKept(row);
      await removeMany(
        service,
        rows.map(({ pk, sk }) => ({ pk, sk })),
      );
    },
  };
}

/** A row of an erased conversation, and where the response to its request is kept. */
type Row = Key & Kept & { conversationId: ConversationId };

/** The events of a record of a conversation, and the row that a link names. */
function parseRecord(tenant: Tenant, { sk }: Key): { events: EventId[]; linked: Key[] } {
  const message = MessageId.safeParse(sk);
  if (message.success) {
    const types = ['message.received', 'channel.message'];
    return { events: types.map((type) => deriveEventId(type, message.data)), linked: [] };
  }
  const escalation = EscalationId.safeParse(sk);
  if (escalation.success)
    return { events: [deriveEventId('handoff.requested', escalation.data)], linked: [] };
  const ticket = TicketId.safeParse(sk);
  if (!ticket.success) return { events: [EventId.parse(sk)], linked: [] };
  return {
    events: [deriveEventId('ticket.created', ticket.data)],
    linked: [keys.ticket(tenant, ticket.data)],
  };
}
