import { OutboxEvent } from '../domain/events.ts';
import { keys } from './keys.ts';
import { expiry, HISTORY_DAYS, type Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** Events, written in the transaction of their cause. The table's stream takes them on from there. */
export function outboxStore(outbox: Pick<Table, 'name'>) {
  return {
    append(event: OutboxEvent): Change {
      return addition(outbox, {
        ...keys.event(event.id),
        ...event,
        expiresAt: expiry(new Date(event.createdAt), HISTORY_DAYS),
      });
    },
  };
}

/** The event that a row of the outbox, or of its stream, holds. @throws a zod error when it holds none */
export const eventOf = (row: unknown): OutboxEvent => OutboxEvent.parse(row);
