import { deriveDeliveryId, newId, type ReceiverId } from '../../functions/aws/ids.ts';
import type { Change } from '../../functions/aws/transaction.ts';
import {
  conversationStore,
  escalationStore,
  messageStore,
  ticketStore,
} from '../../functions/conversations/conversations.ts';
import type { Delivery } from '../../functions/delivery/delivery.ts';
import { getHourBefore, type LedgerAddition, NO_COUNTS } from '../../functions/delivery/ledger.ts';
import { outboxStore } from '../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../functions/delivery/rows.ts';
import { buildEvent, type OutboxEvent } from '../../functions/events/events.ts';
import { idempotencyStore } from '../../functions/http/idempotency.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import { aConversation, aMessage, anEscalation, aTicket } from '../builders.ts';
import type { RunTables } from './run-engines.ts';

/** A row and its table. */
export interface NewRow {
  table: string;
  item: Record<string, unknown>;
}

export interface Records {
  /** All rows except those of open deliveries. */
  rows: Generator<NewRow>;
  /** Counts of endpoints and hours, which are added, not put. */
  ledger: LedgerAddition[];
  /** Deliveries that are due, each with a message in a queue. */
  held: Delivery[];
  /**
   * Retries for the reconciler to resume.
   * @param dueAt when they are due: after the reset
   */
  parked(dueAt: Date): Delivery[];
  /** Rows of open deliveries. */
  rowsOf(deliveries: readonly Delivery[]): Generator<NewRow>;
  conversationId: string;
  ticketId: string;
}

/** The composition of a sandbox's data, in hundredths. */
const SHARE = { conversations: 10, tickets: 4, escalations: 2, events: 16, deliveries: 16, idempotency: 12 };
const HELD = 3;
const PARKED = 2;

/**
 * Records of a sandbox after a busy month, made by the stores' own code: the rest of the shares above are
 * messages.
 * @param endpoints that exist, and `gone` ones that were deleted
 */
export function recordsOf(
  tables: RunTables,
  tenant: Tenant,
  count: number,
  { endpoints, gone }: { endpoints: readonly ReceiverId[]; gone: readonly ReceiverId[] },
): Records {
  const now = new Date();
  const share = (hundredths: number) => Math.floor((count * hundredths) / 100);
  const conversations = list(share(SHARE.conversations), () => aConversation({ id: newId('cnv', now) }));
  const tickets = list(share(SHARE.tickets), () => aTicket({ id: newId('tkt', now) }));
  const of = <T>(all: readonly T[], index: number): T => {
    const chosen = all[index % all.length];
    if (chosen === undefined) throw new Error('there is none of these');
    return chosen;
  };
  // For a deleted endpoint, so that the reader of the outbox's stream creates no more deliveries of them.
  const events = list(share(SHARE.events), (index) =>
    buildEvent(
      'message.received',
      { conversationId: of(conversations, index).id, messageId: newId('msg', now), role: 'user' },
      { tenant, now, onlyTo: of(gone, index) },
    ),
  );
  const waiting = share(HELD) + share(PARKED);
  const ended = list(share(SHARE.deliveries) - waiting, (index) =>
    endedDelivery(tenant, of(events, index), of([...endpoints, ...gone], index), index),
  );
  const held = list(share(HELD), (index) => pending(tenant, of(events, index + 1), of(endpoints, index)));
  const messages = count - Object.values(SHARE).reduce((sum, hundredths) => sum + share(hundredths), 0);
  const stores = {
    conversation: conversationStore(tables.service),
    message: messageStore(tables.service),
    escalation: escalationStore(tables.service),
    ticket: ticketStore(tables.service),
    idempotency: idempotencyStore(tables.service),
    outbox: outboxStore(tables.outbox),
    delivery: deliveryStore(tables.deliveries),
  };

  function* rows(): Generator<NewRow> {
    for (const conversation of conversations) yield rowOf(stores.conversation.add(tenant, conversation));
    for (const ticket of tickets) yield rowOf(stores.ticket.add(tenant, ticket));
    for (const event of events) yield rowOf(stores.outbox.append(event));
    for (let index = 0; index < messages; index += 1)
      yield rowOf(
        stores.message.add(
          tenant,
          aMessage({
            id: newId('msg', now),
            conversationId: of(conversations, index).id,
            content: `${index}: ${'what is asked here is of some length. '.repeat(4)}`,
          }),
        ),
      );
    for (let index = 0; index < share(SHARE.escalations); index += 1)
      yield rowOf(
        stores.escalation.add(
          tenant,
          anEscalation({ id: newId('esc', now), conversationId: of(conversations, index).id }),
        ),
      );
    for (let index = 0; index < share(SHARE.idempotency); index += 1)
      yield rowOf(
        stores.idempotency.record(
          { tenant, route: 'create-message', key: crypto.randomUUID() },
          { fingerprint: 'f'.repeat(64), status: 201, data: JSON.stringify({ id: newId('msg', now) }) },
          now,
        ),
      );
    for (const delivery of ended) yield rowOf(stores.delivery.adding(delivery));
  }

  function* rowsOf(deliveries: readonly Delivery[]): Generator<NewRow> {
    for (const delivery of deliveries) {
      const { table, item } = rowOf(stores.delivery.adding(delivery));
      const due = {
        dueIn: keys.dueOf('parked', delivery.id),
        dueKey: keys.dueKey(delivery.orgId, delivery.nextRetryAt ?? ''),
      };
      yield { table, item: delivery.parked ? { ...item, ...due } : item };
    }
  }

  return {
    rows: rows(),
    ledger: [...endpoints, ...gone].flatMap((webhookId) =>
      list(24, (hours) => ({
        ...NO_COUNTS,
        ...tenant,
        webhookId,
        hour: getHourBefore(now, hours + 1),
        owed: 10,
        succeeded: 10,
      })),
    ),
    held,
    parked: (dueAt) =>
      list(share(PARKED), (index) =>
        parkedDelivery(tenant, of(events, index + 2), of([...endpoints, ...gone], index), dueAt),
      ),
    rowsOf,
    conversationId: of(conversations, 0).id,
    ticketId: of(tickets, 0).id,
  };
}

const list = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

/** The row that a store would put. */
function rowOf({ write }: Change): NewRow {
  const { TableName: table = '', Item: item } = write.Put ?? {};
  if (item === undefined) throw new Error('the change puts no row');
  return { table, item };
}

const pending = ({ orgId, generation }: Tenant, event: OutboxEvent, webhookId: ReceiverId): Delivery => ({
  id: deriveDeliveryId(event.id, webhookId),
  orgId,
  generation,
  webhookId,
  eventId: event.id,
  eventType: event.type,
  status: 'pending',
  attempts: 0,
  attemptLog: [],
  createdAt: event.createdAt,
});

const attemptsAt = (event: OutboxEvent, count: number, status: number): Delivery['attemptLog'] =>
  list(count, (index) => ({
    number: index + 1,
    startedAt: event.createdAt,
    durationMs: 3,
    status,
    ...(status === 200 ? {} : { error: `the receiver answered ${status}` }),
    request: {
      method: 'POST',
      url: 'https://example.com/hooks',
      headers: { 'content-type': 'application/json', 'webhook-signature': `v1,${'s'.repeat(44)}` },
      body: event.body,
    },
  }));

/** Of twenty, seventeen succeeded; some of the others failed and some were skipped. */
function endedDelivery(tenant: Tenant, event: OutboxEvent, to: ReceiverId, index: number): Delivery {
  const delivery = pending(tenant, event, to);
  const ended = { terminalAt: event.createdAt };
  if (index % 20 < 17)
    return {
      ...delivery,
      ...ended,
      status: 'succeeded',
      terminalReason: 'sandbox_simulated',
      attempts: 1,
      attemptLog: attemptsAt(event, 1, 200),
    };
  if (index % 20 < 18)
    return { ...delivery, ...ended, status: 'skipped', terminalReason: 'endpoint_deleted' };
  return {
    ...delivery,
    ...ended,
    status: 'exhausted',
    terminalReason: 'max_attempts',
    attempts: 8,
    attemptLog: attemptsAt(event, 8, 503),
  };
}

const parkedDelivery = (tenant: Tenant, event: OutboxEvent, to: ReceiverId, dueAt: Date): Delivery => ({
  ...pending(tenant, event, to),
  status: 'retrying',
  attempts: 6,
  attemptLog: attemptsAt(event, 6, 503),
  nextRetryAt: dueAt.toISOString(),
  parked: true,
  lastError: 'the receiver answered 503',
  lastResponseStatus: 503,
});
