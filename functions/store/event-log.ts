import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { EventType, OutboxEvent } from '../domain/events.ts';
import type { EventId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import { buildIdBound, EVENT_SHARDS, keys, listShards } from './keys.ts';
import { parseEvent } from './outbox.ts';
import { type Order, type Page, type PageRequest, rangeScan, readMatching } from './pages.ts';
import type { Table } from './table.ts';

/** All conditions must hold. */
export interface EventFilter {
  /** Undefined for all types. */
  types: readonly EventType[] | undefined;
  /** Range of creation times, as in the ids; `to` is exclusive. */
  from: Date;
  to: Date;
}

/** Position before the events of a time, for a listing with the oldest first. */
export const buildEventPosition = (time: Date): string => buildIdBound('evt', time);

/** The events of an organization, from its outbox. */
export function eventLog(outbox: Table) {
  return {
    async find(tenant: Tenant, id: EventId): Promise<OutboxEvent | undefined> {
      const { Item } = await outbox.client.send(
        new GetCommand({ TableName: outbox.name, Key: keys.event(tenant, id), ConsistentRead: true }),
      );
      return Item && parseEvent(Item);
    },

    /** Pages are those of `readMatching`, which may be short. */
    list(
      tenant: Tenant,
      page: PageRequest,
      { types, from, to }: EventFilter,
      order: Order,
    ): Promise<Page<OutboxEvent>> {
      const filter = { prefix: 'evt', from, to, wanted: { type: types } } as const;
      const scans = listShards(EVENT_SHARDS).map((shard) =>
        rangeScan(outbox, keys.events(tenant, shard), filter, parseEvent, order),
      );
      return readMatching(scans, page, order);
    },
  };
}
