import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DUE_INDEX, type UnreadableRow } from '../domain/due.ts';
import { OrgId, SourceId } from '../domain/ids.ts';
import { MAX_SOURCES, RESEND_SECONDS, Source, type SourceRef } from '../domain/source.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Position } from './due-index.ts';
import { buildSandboxMark, keys, listShards, SOURCE_SHARDS } from './keys.ts';
import { type Page, type PageRequest, partitionReader, readNewestFirst } from './pages.ts';
import { parseReadable, readItem, type Table, update } from './table.ts';
import { buildAddition, type Change } from './transaction.ts';

const parse = (row: unknown): Source => Source.parse(row);

/** Sources of a tenant, with a counter that enforces their limit. */
export function sourceStore(knowledge: Table) {
  const table = { TableName: knowledge.name };

  return {
    async find(tenant: Tenant, id: SourceId): Promise<Source | undefined> {
      const { Item } = await knowledge.client.send(
        new GetCommand({ ...table, Key: keys.source(tenant, id), ConsistentRead: true }),
      );
      return Item && parse(Item);
    },

    /** The row of a source to remove, which may be unreadable as a source. */
    findToRemove(tenant: Tenant, id: SourceId): Promise<Record<string, unknown> | undefined> {
      return readItem(knowledge, { ...keys.source(tenant, id) });
    },

    list(tenant: Tenant, page: PageRequest): Promise<Page<Source>> {
      const partitions = listShards(SOURCE_SHARDS).map((shard) =>
        partitionReader(knowledge, keys.sources(tenant, shard), parse),
      );
      return readNewestFirst(partitions, page);
    },

    /**
     * Adds and counts a source; refused as `source-limit` at the limit. Its entry in the due index covers the
     * loss of the first check's notice.
     */
    add(source: Source): Change[] {
      return [
        {
          refusal: 'source-limit',
          write: {
            Update: {
              ...table,
              Key: keys.sourceCount(source),
              UpdateExpression: `${buildMarkExpression(source)} ADD sources :one`,
              ConditionExpression: 'attribute_not_exists(sources) OR sources < :limit',
              ExpressionAttributeValues: { ':one': 1, ':limit': MAX_SOURCES, ...buildMarkValues(source) },
            },
          },
        },
        buildAddition(knowledge, {
          ...keys.source(source, source.id),
          ...buildSandboxMark(source),
          ...source,
          dueIn: keys.dueSourcesOf(source.id),
          dueAt: computeDueAt(new Date(source.createdAt)),
        }),
      ];
    },

    /**
     * Records a requested check; refused as `source-synced` within the cooldown, and when the source is gone.
     * The entry in the due index covers the loss of the notice.
     */
    sync(
      tenant: Tenant,
      id: SourceId,
      { now, cooldownSeconds }: { now: Date; cooldownSeconds: number },
    ): Change {
      return {
        refusal: 'source-synced',
        write: {
          Update: {
            ...table,
            Key: keys.source(tenant, id),
            UpdateExpression: 'SET syncedAt = :now, dueAt = :dueAt',
            ConditionExpression:
              'attribute_exists(pk) AND (attribute_not_exists(syncedAt) OR syncedAt <= :before)',
            ExpressionAttributeValues: {
              ':now': now.toISOString(),
              ':before': new Date(now.getTime() - cooldownSeconds * 1000).toISOString(),
              ':dueAt': computeDueAt(now),
            },
          },
        },
      };
    },

    /** Removes and uncounts a source; refused as `source-missing` when it does not exist. */
    remove(tenant: Tenant, id: SourceId): Change[] {
      return [
        {
          refusal: 'source-missing',
          write: {
            Delete: {
              ...table,
              Key: keys.source(tenant, id),
              ConditionExpression: 'attribute_exists(pk)',
            },
          },
        },
        {
          refusal: 'source-missing',
          write: {
            Update: {
              ...table,
              Key: keys.sourceCount(tenant),
              UpdateExpression: 'ADD sources :minusOne',
              ConditionExpression: 'sources > :zero',
              ExpressionAttributeValues: { ':minusOne': -1, ':zero': 0 },
            },
          },
        },
      ];
    },

    /**
     * Records the version that admins were notified of, from which later changes are measured. Does nothing
     * after a later notification.
     */
    async notified(tenant: Tenant, id: SourceId, version: number, at: Date): Promise<void> {
      await update(knowledge, {
        Key: keys.source(tenant, id),
        UpdateExpression: 'SET announcedFrom = baseline, baseline = :version, lastNotifiedAt = :at',
        ConditionExpression: 'baseline < :version',
        ExpressionAttributeValues: { ':version': version, ':at': at.toISOString() },
      });
    },

    /** Lets a check announce the current text once the time has come. */
    async announceLater(tenant: Tenant, id: SourceId, at: Date): Promise<void> {
      await update(knowledge, {
        Key: keys.source(tenant, id),
        UpdateExpression: 'SET announceAt = :at',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':at': at.toISOString() },
      });
    },
  };
}

/** When a source is due again if the message sent at `sentAt` was lost. */
const computeDueAt = (sentAt: Date): string =>
  new Date(sentAt.getTime() + RESEND_SECONDS * 1000).toISOString();

/** Marks the counter's row, which the first source creates, as a sandbox's. */
const buildMarkExpression = (tenant: Tenant): string =>
  Object.keys(buildSandboxMark(tenant))
    .map((name) => `SET ${name} = :${name}`)
    .join('');
const buildMarkValues = (tenant: Tenant): Record<string, unknown> =>
  Object.fromEntries(Object.entries(buildSandboxMark(tenant)).map(([name, value]) => [`:${name}`, value]));

/** Ten batches of a queue; small enough that a run can end between two pages. */
const PAGE = 100;

const Row = z.object({ sk: SourceId, orgId: OrgId, generation: z.int(), dueAt: z.string() });

export interface DueSource extends SourceRef {
  dueAt: string;
}

/** Sparse index of sources by due time: its cost grows with the entries that are due. */
export function dueSources(knowledge: Table) {
  return {
    /**
     * Entries of a shard due by `until`, earliest first. Eventually consistent, like every index.
     * @param after end of the previous page
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
      const found = parseReadable(Items, (row) => {
        const { sk: id, ...entry } = Row.parse(row);
        return { id, ...entry };
      });
      return { ...found, ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }) };
    },

    /** Does nothing when the entry has moved or is gone. */
    async postpone(entry: DueSource, until: Date): Promise<void> {
      await update(knowledge, {
        Key: keys.source(entry, entry.id),
        UpdateExpression: 'SET dueAt = :until',
        ConditionExpression: 'dueAt = :dueAt',
        ExpressionAttributeValues: { ':dueAt': entry.dueAt, ':until': until.toISOString() },
      });
    },
  };
}
