import * as z from 'zod/mini';
import { ConversationId, EscalationId, MessageId, TicketId } from '../aws/ids.ts';
import { getInTransaction, getMany, type Key, type Row, type Table } from '../aws/table.ts';
import { keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { Conversation, Escalation, Message, Ticket } from './conversations.ts';

/** What an event is about. */
export type EventRecord = Conversation | Message | Escalation | Ticket;

/** The ids in the data of an event: the most specific one names its record. */
const RecordIds = z.object({
  conversationId: z.optional(ConversationId),
  messageId: z.optional(MessageId),
  escalationLogId: z.optional(EscalationId),
  ticketId: z.optional(TicketId),
});

/** Where the record of an event is stored. */
export interface RecordPlace {
  key: Key;
  /** The conversation that the record belongs to: without it, the record is gone as well. */
  within?: Key | undefined;
  parse(row: Row): EventRecord;
}

/** Returns undefined for an event that is about no record. */
export function locateRecord(tenant: Tenant, data: unknown): RecordPlace | undefined {
  const { conversationId, messageId, escalationLogId, ticketId } = RecordIds.parse(data);
  const within = conversationId && keys.conversation(tenant, conversationId);
  if (ticketId !== undefined)
    return { key: keys.ticket(tenant, ticketId), within, parse: (row) => Ticket.parse(row) };
  if (conversationId === undefined || within === undefined) return undefined;
  if (messageId !== undefined)
    return {
      key: keys.message(tenant, conversationId, messageId),
      within,
      parse: (row) => Message.parse(row),
    };
  if (escalationLogId !== undefined)
    return {
      key: keys.escalation(tenant, conversationId, escalationLogId),
      within,
      parse: (row) => Escalation.parse(row),
    };
  return { key: within, parse: (row) => Conversation.parse(row) };
}

/**
 * Reads records after their events, and none that is older than its event, because both commit in one
 * transaction: a row that does not show the event's own write is read again in a transaction.
 * @param wanted up to 50, each with a test of the row that was read
 * @returns the records in the same order, undefined for deleted ones
 */
export async function readRecords(
  service: Table,
  wanted: readonly (RecordPlace & { shows(record: EventRecord): boolean })[],
): Promise<(EventRecord | undefined)[]> {
  const rows = new Map<string, Row>();
  const add = (read: readonly Row[]) => {
    for (const row of read) rows.set(toText(row), row);
  };
  const find = ({ key, within, parse }: RecordPlace) => {
    const row = rows.get(toText(key));
    return row && (within === undefined || rows.has(toText(within))) ? parse(row) : undefined;
  };
  add(await getMany(service, distinct(wanted), { consistent: true }));
  const doubtful = wanted.filter((place) => {
    const record = find(place);
    return record === undefined || !place.shows(record);
  });
  if (doubtful.length > 0) {
    for (const key of distinct(doubtful)) rows.delete(toText(key));
    add(await getInTransaction(service, distinct(doubtful)));
  }
  return wanted.map(find);
}

const toText = ({ pk, sk }: { pk?: unknown; sk?: unknown }): string => `${pk} ${sk}`;

/** A batch names each key once. */
const distinct = (places: readonly RecordPlace[]): Key[] => [
  ...new Map(
    places.flatMap(({ key, within = key }) => [key, within]).map((key) => [toText(key), key]),
  ).values(),
];
