import { buildIdBound, type EventId } from '../aws/ids.ts';
import { COMMIT_WINDOW_SECONDS, type Order, type PageRequest, readPage, readPageOf } from '../aws/pages.ts';
import { get, type Table } from '../aws/table.ts';
import { findErasedConversations } from '../conversations/conversations.ts';
import { EVENT_SHARDS, keys, listShards } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { type EventType, eraseEvent, HISTORY_DAYS, OutboxEvent } from './events.ts';

/** All conditions must hold. */
export interface EventFilter {
  /** Undefined for all types. */
  types: readonly EventType[] | undefined;
  /** Range of creation times, as in the ids; `to` is exclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
}

const MS_PER_DAY = 86_400_000;

export const listPartitions = (tenant: Tenant): string[] =>
  listShards(EVENT_SHARDS).map((shard) => keys.events(tenant, shard));

/**
 * The events of an organization in the last 30 days, from its outbox. Those of erased conversations have
 * identifiers only, also before the purge.
 */
export function eventLog(outbox: Table, service: Table) {
  const findErased = findErasedConversations(service);

  async function eraseTexts(tenant: Tenant, events: readonly OutboxEvent[]): Promise<OutboxEvent[]> {
    const conversations = events.flatMap(({ erased, conversationId }) => (erased ? [] : [conversationId]));
    const gone = await findErased(tenant, conversations);
    return events.map((event) => (gone.has(event.conversationId) ? eraseEvent(event) : event));
  }

  async function listBetween(
    tenant: Tenant,
    page: PageRequest,
    { types, from, to }: EventFilter & { from: Date; to: Date },
    order: Order,
  ) {
    const listed = await readPage(outbox, listPartitions(tenant), page, {
      parse: (row) => OutboxEvent.parse(row),
      order,
      times: { prefix: 'evt', from, to },
      wanted: { type: types },
    });
    return { ...listed, items: await eraseTexts(tenant, listed.items) };
  }

  /** Events that are too old to be resent are not shown either. */
  const getStart = (from: Date | undefined, now: Date): Date => {
    const earliest = new Date(now.getTime() - HISTORY_DAYS * MS_PER_DAY);
    return from === undefined || from < earliest ? earliest : from;
  };

  return {
    async find(tenant: Tenant, id: EventId): Promise<OutboxEvent | undefined> {
      const row = await get(outbox, keys.event(tenant, id));
      const [event] = row === undefined ? [] : await eraseTexts(tenant, [OutboxEvent.parse(row)]);
      return event;
    },

    listNewest(tenant: Tenant, page: PageRequest, filter: EventFilter, now: Date) {
      // Later than any event: clocks of functions differ.
      const to = getEarlier(filter.to, new Date(now.getTime() + MS_PER_DAY));
      return listBetween(tenant, page, { ...filter, from: getStart(filter.from, now), to }, 'newest first');
    },

    /** @param ids without repetition; those without an event that passes the filter are left out */
    async listThese(
      tenant: Tenant,
      ids: readonly EventId[],
      page: PageRequest,
      { types, from, to }: EventFilter,
      order: Order,
      now: Date,
    ) {
      const first = buildIdBound('evt', getStart(from, now));
      const end = to && buildIdBound('evt', to);
      const inTime = ids.filter((id) => id >= first && (end === undefined || id < end));
      const listed = await readPageOf<OutboxEvent>(outbox, inTime, page, {
        order,
        toKey: (id) => keys.event(tenant, id),
        parse: (row) => OutboxEvent.parse(row),
        isWanted: ({ type }) => types === undefined || types.includes(type),
      });
      return { ...listed, items: await eraseTexts(tenant, listed.items) };
    },

    /**
     * Reads up to the time before which no more events can be committed: an event of a late transaction has
     * an older id than events that the caller could have read (docs/architecture.md, Followed lists).
     */
    async listOldest(tenant: Tenant, page: PageRequest, filter: EventFilter, now: Date) {
      const settled = new Date(now.getTime() - COMMIT_WINDOW_SECONDS * 1000);
      const end = getEarlier(filter.to, settled);
      const from = getStart(filter.from, now);
      const listed = await listBetween(tenant, page, { ...filter, from, to: end }, 'oldest first');
      if (listed.next !== undefined) return { ...listed, follow: listed.next };
      if (filter.to !== undefined && filter.to <= settled) return listed;
      // The cursor may be ahead of this function's clock.
      const position = buildIdBound('evt', end);
      return { ...listed, follow: page.after !== undefined && page.after > position ? page.after : position };
    },
  };
}

const getEarlier = (time: Date | undefined, other: Date): Date =>
  time !== undefined && time < other ? time : other;
