import * as z from 'zod/mini';
import { EventId, type OrgId, parseCreationTime } from '../aws/ids.ts';
import { get, type Table, toExpiry } from '../aws/table.ts';
import { buildAddition, type Change } from '../aws/transaction.ts';
import { appendNotice, BusEvent, type Notice, toBusEvent } from '../events/bus.ts';
import { type EntryKey, EVENT_DAYS, OutboxEvent } from '../events/events.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { DeliveryMessage } from './delivery.ts';
import { type OutboxWork, RedeliveryOrder } from './redelivery.ts';

const toEntry = (event: OutboxEvent) => ({
  ...keys.event(event, event.id),
  ...buildSandboxMark(event),
  ...event,
  expiresAt: toExpiry(new Date(event.createdAt), EVENT_DAYS),
});

/** Work items and events, written in the transaction that causes them. The table's stream delivers them. */
export function outboxStore(outbox: Table) {
  return {
    find: ({ pk, sk }: EntryKey): Promise<Record<string, unknown> | undefined> => get(outbox, { pk, sk }),

    append: (event: OutboxEvent): Change => buildAddition(outbox, toEntry(event)),

    /**
     * Adds the work item that sends the message of a delivery added or made due in the same transaction.
     * @param retryAfter attempts of a delivery that is made due; refused as `exists` if that was done before
     */
    appendRedelivery(deliveryMessage: DeliveryMessage, retryAfter?: number): Change {
      const order: RedeliveryOrder = { kind: 'redelivery', deliveryMessage, retryAfter };
      return buildAddition(outbox, {
        ...getWorkKey(order),
        ...buildSandboxMark(deliveryMessage),
        ...order,
        expiresAt: toExpiry(parseCreationTime(deliveryMessage.id), EVENT_DAYS),
      });
    },

    /** Adds an event for the service's own workers; refused as `exists` when it was added before. */
    appendNotice: (notice: Notice): Change => appendNotice(outbox, notice),
  };
}

/** Events have no `kind`. */
const Entry = z.object({ kind: z.optional(z.string()) });

/** Returns the key of the entry that has a work item. */
export const getWorkKey = (work: OutboxWork): EntryKey =>
  work.kind === 'event'
    ? keys.event(work.event, work.event.id)
    : keys.redelivery(work.deliveryMessage.id, work.retryAfter);

/** The entries of the outbox that one reader processes. */
export interface EntryKind<T> {
  /**
   * Parses a row of the outbox or of its stream; undefined when it is for another reader.
   * @throws a zod error when the row is invalid
   */
  parse(row: unknown): T | undefined;
  /** What a letter and the log say of an entry. */
  describe(entry: T): { key: EntryKey; orgId: OrgId; id: string; createdAt: string };
}

/** Work of the fan-out. */
export const WORK: EntryKind<OutboxWork> = {
  parse(row) {
    const { kind } = Entry.parse(row);
    if (kind === undefined) return { kind: 'event', event: OutboxEvent.parse(row) };
    return kind === 'redelivery' ? RedeliveryOrder.parse(row) : undefined;
  },
  describe(work) {
    const { id, orgId } = work.kind === 'event' ? work.event : work.deliveryMessage;
    const createdAt =
      work.kind === 'event' ? work.event.createdAt : parseCreationTime(work.deliveryMessage.id).toISOString();
    return { key: getWorkKey(work), orgId, id, createdAt };
  },
};

/** Events for the bus. */
export const PUBLICATION: EntryKind<BusEvent> = {
  parse(row) {
    const { kind } = Entry.parse(row);
    if (kind === undefined) return toBusEvent(OutboxEvent.parse(row));
    return kind === 'notice' ? BusEvent.parse(row) : undefined;
  },
  describe(event) {
    const { orgId, id, createdAt } = event;
    const { success, data: eventId } = EventId.safeParse(id);
    return { key: success ? keys.event(event, eventId) : keys.notice(id), orgId, id, createdAt };
  },
};
