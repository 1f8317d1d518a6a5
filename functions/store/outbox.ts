import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { BusEvent, busEventOf, busEventOfDisabling, type Notice } from '../domain/bus.ts';
import type { Reminder } from '../domain/delivery.ts';
import { DisablingNotice } from '../domain/endpoint.ts';
import { OutboxEvent } from '../domain/events.ts';
import { creationTime } from '../domain/ids.ts';
import { EVENT_DAYS, type Owed, RedeliveryOrder } from '../domain/redelivery.ts';
import { keys, markOf } from './keys.ts';
import { expiry, type Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

const rowOf = (event: OutboxEvent) => ({
  ...keys.event(event.id),
  ...markOf(event),
  ...event,
  expiresAt: expiry(new Date(event.createdAt), EVENT_DAYS),
});

/** What is owed, written in the transaction of its cause. The table's stream takes it on from there. */
export function outboxStore(outbox: Table) {
  return {
    /** The row of an entry, whatever it owes. */
    async find(id: string): Promise<Record<string, unknown> | undefined> {
      const { Item } = await outbox.client.send(
        new GetCommand({ TableName: outbox.name, Key: { pk: id }, ConsistentRead: true }),
      );
      return Item;
    },

    append(event: OutboxEvent): Change {
      return addition(outbox, rowOf(event));
    },

    /** Orders the reminder of a delivery that the same transaction adds. */
    appendRedelivery(reminder: Reminder): Change {
      const order: RedeliveryOrder = { kind: 'redelivery', reminder };
      return addition(outbox, {
        ...keys.redelivery(reminder.id),
        ...markOf(reminder),
        ...order,
        expiresAt: expiry(creationTime(reminder.id), EVENT_DAYS),
      });
    },

    /** Tells the service's own workers what the same transaction does; refused as `exists` when they are told already. */
    appendNotice(notice: Notice): Change {
      return addition(outbox, {
        ...keys.notice(notice.id),
        ...markOf(notice),
        ...notice,
        expiresAt: expiry(new Date(notice.createdAt), EVENT_DAYS),
      });
    },
  };
}

/** Orders that the admins be told of a disabling, in the transaction that disables. */
export const disablingNotice = (outbox: Pick<Table, 'name'>, notice: DisablingNotice): Change =>
  addition(outbox, {
    ...keys.disablingNotice(notice.webhookId, notice.disabledAt),
    ...markOf(notice),
    ...notice,
    expiresAt: expiry(new Date(notice.disabledAt), EVENT_DAYS),
  });

/** The event that a row of the outbox, or of its stream, holds. @throws a zod error when it holds none */
export const eventOf = (row: unknown): OutboxEvent => OutboxEvent.parse(row);

/** Events have no kind: they are what the outbox is for. */
const Entry = z.object({ pk: z.optional(z.string()), kind: z.optional(z.string()) });

/**
 * What a row of the outbox, or of its stream, owes to endpoints; nothing when it is an order for somebody else.
 * @throws a zod error when it should be an event or an order and is none
 */
export function owedBy(row: unknown): Owed | undefined {
  const { kind } = Entry.parse(row);
  if (kind === undefined) return { kind: 'event', event: eventOf(row) };
  return kind === 'redelivery' ? RedeliveryOrder.parse(row) : undefined;
}

/**
 * What a row of the outbox, or of its stream, tells on the bus; nothing when it only orders something.
 * @throws a zod error when it should tell something and is not readable
 */
export function toldBy(row: unknown): BusEvent | undefined {
  const { pk, kind } = Entry.parse(row);
  if (kind === undefined) return busEventOf(eventOf(row));
  // Under its key, whatever that is: it is found again by it.
  if (kind === 'endpoint-disabled') return busEventOfDisabling(DisablingNotice.parse(row), String(pk));
  return kind === 'notice' ? BusEvent.parse(row) : undefined;
}
