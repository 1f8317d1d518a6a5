import * as z from 'zod/mini';
import { all, expression } from '../aws/expression.ts';
import {
  buildUpdate,
  EXISTS,
  get,
  parseReadable,
  query,
  type Row,
  type Table,
  type UnreadableRow,
  update,
} from '../aws/table.ts';
import { DUE_INDEX } from '../domain/due.ts';
import { OrgId, SourceId } from '../domain/ids.ts';
import { MAX_SOURCES, RESEND_SECONDS, Source, type SourceRef } from '../domain/source.ts';
import type { Tenant } from '../domain/tenant.ts';
import { buildSandboxMark, keys, listShards, SOURCE_SHARDS } from './keys.ts';
import { type Page, type PageRequest, readPage } from './pages.ts';
import {
  buildAddition,
  buildRemoval,
  type Change,
  type Counter,
  decreaseCount,
  increaseCount,
} from './transaction.ts';

const parse = (row: unknown): Source => Source.parse(row);

const getCounter = (tenant: Tenant): Counter => ({
  key: keys.sourceCount(tenant),
  things: 'sources',
  limit: MAX_SOURCES,
  refusals: { full: 'source-limit', missing: 'source-missing' },
  marks: buildSandboxMark(tenant),
});

export type SourceStore = ReturnType<typeof sourceStore>;

/** Sources of a tenant, with a counter that enforces their limit. */
export function sourceStore(knowledge: Table) {
  return {
    async find(tenant: Tenant, id: SourceId): Promise<Source | undefined> {
      const row = await get(knowledge, keys.source(tenant, id));
      return row && parse(row);
    },

    /** The row of a source to remove, which may be unreadable as a source. */
    findToRemove(tenant: Tenant, id: SourceId): Promise<Record<string, unknown> | undefined> {
      return get(knowledge, keys.source(tenant, id));
    },

    list(tenant: Tenant, page: PageRequest): Promise<Page<Source>> {
      const partitions = listShards(SOURCE_SHARDS).map((shard) => keys.sources(tenant, shard));
      return readPage(knowledge, partitions, page, { parse });
    },

    /**
     * Adds and counts a source; refused as `source-limit` at the limit. Its entry in the due index covers the
     * loss of the first check's notice.
     */
    add(source: Source): Change[] {
      return [
        increaseCount(knowledge, getCounter(source)),
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
      const before = new Date(now.getTime() - cooldownSeconds * 1000).toISOString();
      return buildUpdate(knowledge, keys.source(tenant, id), {
        refusal: 'source-synced',
        update: expression`SET syncedAt = ${now.toISOString()}, dueAt = ${computeDueAt(now)}`,
        if: all(EXISTS, expression`(attribute_not_exists(syncedAt) OR syncedAt <= ${before})`),
      });
    },

    /** Removes and uncounts a source; refused as `source-missing` when it does not exist. */
    remove(tenant: Tenant, id: SourceId): Change[] {
      const counter = getCounter(tenant);
      return [
        buildRemoval(knowledge, keys.source(tenant, id), counter.refusals),
        decreaseCount(knowledge, counter),
      ];
    },

    /**
     * Records the version that admins were notified of, from which later changes are measured. Does nothing
     * after a later notification.
     */
    async notified(tenant: Tenant, id: SourceId, version: number, at: Date): Promise<void> {
      await update(knowledge, keys.source(tenant, id), {
        update: expression`SET announcedFrom = baseline, baseline = ${version}, lastNotifiedAt = ${at.toISOString()}`,
        if: expression`baseline < ${version}`,
      });
    },

    /** Lets a check announce the current text once the time has come. */
    async announceLater(tenant: Tenant, id: SourceId, at: Date): Promise<void> {
      await update(knowledge, keys.source(tenant, id), {
        update: expression`SET announceAt = ${at.toISOString()}`,
        if: EXISTS,
      });
    },
  };
}

/** When a source is due again if the message sent at `sentAt` was lost. */
const computeDueAt = (sentAt: Date): string =>
  new Date(sentAt.getTime() + RESEND_SECONDS * 1000).toISOString();

/** Ten batches of a queue; small enough that a run can end between two pages. */
const PAGE = 100;

const DueRow = z.object({ sk: SourceId, orgId: OrgId, generation: z.int(), dueAt: z.string() });

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
      after?: Row,
    ): Promise<{ entries: DueSource[]; unreadable: UnreadableRow[]; next?: Row }> {
      const where = expression`dueIn = ${keys.dueSources(shard)} AND dueAt <= ${until.toISOString()}`;
      const { rows, next } = await query(knowledge, { index: DUE_INDEX, where, limit: PAGE, after });
      const found = parseReadable(rows, (row) => {
        const { sk: id, ...entry } = DueRow.parse(row);
        return { id, ...entry };
      });
      return { ...found, ...(next && { next }) };
    },

    /** Does nothing when the entry has moved or is gone. */
    async postpone(entry: DueSource, until: Date): Promise<void> {
      await update(knowledge, keys.source(entry, entry.id), {
        update: expression`SET dueAt = ${until.toISOString()}`,
        if: expression`dueAt = ${entry.dueAt}`,
      });
    },
  };
}
