import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DUE_INDEX, type UnreadableRow } from '../domain/due.ts';
import { OrgId, SourceId } from '../domain/ids.ts';
import type { SourceRef } from '../domain/source.ts';
import type { Position } from './due-index.ts';
import { keys } from './keys.ts';
import { readable } from './readable.ts';
import { type Table, updated } from './table.ts';

/** Enough for ten batches of a queue, few enough that a run can end between two pages. */
const PAGE = 100;

const Row = z.object({ sk: SourceId, orgId: OrgId, generation: z.int(), dueAt: z.string() });

/** An entry of the due index of sources. */
export interface DueSource extends SourceRef {
  dueAt: string;
}

/** The sparse index of when sources are due: what it costs grows with what is due, never with how many sources there are. */
export function dueSources(knowledge: Table) {
  return {
    /**
     * What is due by `until` in one shard, the earliest first. Eventually consistent, as an index is.
     * @param after where the page before ended
     */
    async find(
      shard: number,
      until: Date,
      after?: Position,
    ): Promise<{ entries: DueSource[]; unreadable: UnreadableRow[]; next?: Position }> {
      const { Items = [], LastEvaluatedKey } = await knowledge.client.send(
        new QueryCommand({
          TableName: knowledge.name,
          IndexName: DUE_INDEX,
          KeyConditionExpression: 'dueIn = :dueIn AND dueAt <= :until',
          ExpressionAttributeValues: { ':dueIn': keys.dueSources(shard), ':until': until.toISOString() },
          Limit: PAGE,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      const found = readable(Items, (row) => {
        const { sk: id, ...entry } = Row.parse(row);
        return { id, ...entry };
      });
      return { ...found, ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }) };
    },

    /** Moves an entry on. Does nothing when it was moved meanwhile, or is gone. */
    async postpone(entry: DueSource, until: Date): Promise<void> {
      await updated(knowledge, {
        Key: keys.source(entry, entry.id),
        UpdateExpression: 'SET dueAt = :until',
        ConditionExpression: 'dueAt = :dueAt',
        ExpressionAttributeValues: { ':dueAt': entry.dueAt, ':until': until.toISOString() },
      });
    },
  };
}
