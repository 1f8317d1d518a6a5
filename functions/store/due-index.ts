import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type DeliveryRef, Reminder } from '../domain/delivery.ts';
import {
  DUE_INDEX,
  type DueEntry,
  type DueState,
  type PostponeReason,
  type UnreadableRow,
} from '../domain/due.ts';
import { expireUpdate, postponeUpdate, watchUpdate } from './delivery-updates.ts';
import { keys } from './keys.ts';
import { readable } from './readable.ts';
import { type Table, updated } from './table.ts';

/** Where a page ended; only for going on from there. */
export type Position = Record<string, unknown>;

/** Enough for ten batches of a queue, few enough that a run can end between two pages. */
const PAGE = 100;

/** The sparse index of deliveries that have to be looked after: what it costs grows with what is in it, never with history. */
export function dueIndex(deliveries: Table) {
  return {
    /** Puts an open delivery there, as one whose message counts as lost from `dueAt` on. Does nothing to any other. */
    async watch(ref: DeliveryRef, dueAt: Date): Promise<void> {
      await updated(deliveries, watchUpdate(ref, dueAt));
    },

    /** Moves an entry on, to be watched until then. Does nothing when it was moved meanwhile. */
    async postpone(entry: DueEntry, until: Date, reason: PostponeReason = 'sent'): Promise<void> {
      await updated(deliveries, postponeUpdate(entry, until, reason));
    },

    /** Ends an open, unleased delivery as expired. Refused when its entry was moved meanwhile: then its message may be on its way. */
    async expire(entry: DueEntry, now: Date): Promise<'done' | 'refused'> {
      return (await updated(deliveries, expireUpdate(entry, now))) ? 'done' : 'refused';
    },

    /**
     * What is due by `until` in one shard, the earliest first. Eventually consistent, as an index is.
     * @param after where the page before ended
     */
    async find(
      state: DueState,
      shard: number,
      until: Date,
      after?: Position,
    ): Promise<{ entries: DueEntry[]; unreadable: UnreadableRow[]; next?: Position }> {
      const { Items = [], LastEvaluatedKey } = await deliveries.client.send(
        new QueryCommand({
          TableName: deliveries.name,
          IndexName: DUE_INDEX,
          KeyConditionExpression: 'dueIn = :dueIn AND dueAt <= :until',
          ExpressionAttributeValues: { ':dueIn': keys.due(state, shard), ':until': until.toISOString() },
          Limit: PAGE,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      const found = readable(Items, (row) => ({
        reminder: Reminder.parse({ ...row, id: row.sk }),
        state,
        dueAt: String(row.dueAt),
        ...(row.isDeferred === true ? { isDeferred: true as const } : {}),
      }));
      return { ...found, ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }) };
    },
  };
}
