import * as z from 'zod/mini';
import type { Reminder } from '../domain/delivery.ts';
import { OutboxEvent } from '../domain/events.ts';
import { creationTime } from '../domain/ids.ts';
import { EVENT_DAYS, type Owed, RedeliveryOrder } from '../domain/redelivery.ts';
import { keys } from './keys.ts';
import { expiry, type Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** What is owed, written in the transaction of its cause. The table's stream takes it on from there. */
export function outboxStore(outbox: Pick<Table, 'name'>) {
  return {
    append(event: OutboxEvent): Change {
      return addition(outbox, {
        ...keys.event(event.id),
        ...event,
        expiresAt: expiry(new Date(event.createdAt), EVENT_DAYS),
      });
    },

    /** Orders the reminder of a delivery that the same transaction adds. */
    appendRedelivery(reminder: Reminder): Change {
      const order: RedeliveryOrder = { kind: 'redelivery', reminder };
      return addition(outbox, {
        ...keys.redelivery(reminder.id),
        ...order,
        expiresAt: expiry(creationTime(reminder.id), EVENT_DAYS),
      });
    },
  };
}

/** The event that a row of the outbox, or of its stream, holds. @throws a zod error when it holds none */
export const eventOf = (row: unknown): OutboxEvent => OutboxEvent.parse(row);

/** Events have no kind: they are what the outbox is for. */
const Entry = z.object({ kind: z.optional(z.string()) });

/** What a row of the outbox, or of its stream, owes. @throws a zod error when it is neither an event nor an order */
export const owedBy = (row: unknown): Owed =>
  Entry.parse(row).kind === undefined ? { kind: 'event', event: eventOf(row) } : RedeliveryOrder.parse(row);
