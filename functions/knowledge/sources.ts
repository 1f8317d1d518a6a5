import * as z from 'zod/mini';
import { all, expression } from '../aws/expression.ts';
import { OrgId, SourceId, Timestamp } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { EXISTS, get, parseReadable, query, type Row, type Table, update } from '../aws/table.ts';
import {
  buildAddition,
  buildRemoval,
  buildUpdate,
  type Change,
  type Counter,
  decreaseCount,
  increaseCount,
} from '../aws/transaction.ts';
import { AttemptErrorCode } from '../delivery/delivery.ts';
import { type BusEvent, SourceKind } from '../events/bus.ts';
import { buildSandboxMark, DUE_INDEX, keys, listShards, SOURCE_SHARDS } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { WARNING_CODES } from './text.ts';

/** Maximum number of sources of a tenant (docs/specification.md, Limits). */
export const MAX_SOURCES = 1000;

/** Maximum size of a response. Extraction holds it and its text in memory. */
export const MAX_SOURCE_BYTES = 5 * 1024 * 1024;

/**
 * Seconds after which a source whose message was sent becomes due again if it was not checked. A second
 * message is harmless.
 */
export const RESEND_SECONDS = 900;

export const SourceStatus = z.enum(['pending', 'ok', 'failing']);
export type SourceStatus = z.infer<typeof SourceStatus>;

/** A version with stored text, and its number of parts. */
export const StoredVersion = z.object({
  version: z.int(),
  parts: z.int(),
  /** A notice names it, so it may become the version that admins know. */
  announced: z.optional(z.literal(true)),
});
export type StoredVersion = z.infer<typeof StoredVersion>;

/** What was left out of a text, one for each reason, and how often. */
export const Warning = z.object({ code: z.enum(WARNING_CODES), count: z.int() });

/** What an extraction returns beside the text. */
export const TextProperties = z.object({
  title: z.optional(z.string()),
  warnings: z.optional(z.array(Warning)),
  /** How a page's text was chosen, for its next extraction. */
  choice: z.optional(z.string()),
  /** Validators of the response (RFC 9110, 8.8). */
  etag: z.optional(z.string()),
  lastModified: z.optional(z.string()),
});

/** Properties of the current text. */
export const SourceContent = z.object({
  version: z.int(),
  digest: z.string(),
  words: z.int(),
  ...TextProperties.shape,
});
export type SourceContent = z.infer<typeof SourceContent>;

/** The right to write a check's result. `token` fences it; `until` in ms since the epoch. */
const SourceLease = z.object({ token: z.string(), since: Timestamp, until: z.number() });

/** A source of knowledge as stored. */
export const Source = z.object({
  id: SourceId,
  orgId: OrgId,
  generation: z.int(),
  kind: SourceKind,
  url: z.string(),
  name: z.optional(z.string()),
  createdAt: Timestamp,
  nextCheckAt: Timestamp,
  /** Finished checks. */
  checks: z.int(),
  /** Checks started since the last finished one: their workers were lost. */
  starts: z._default(z.int(), 0),
  /** Consecutive failed checks. */
  failures: z.int(),
  /** All versions whose text may be stored. */
  stored: z.array(StoredVersion),
  /** Absent until the first import. */
  content: z.optional(SourceContent),
  /** The version that admins know: the last announced one, or the first. */
  baseline: z.optional(z.int()),
  /** The version that the last e-mail compared `baseline` with. */
  announcedFrom: z.optional(z.int()),
  /** When a change that came too soon after an e-mail about its URL may be announced. */
  announceAt: z.optional(Timestamp),
  /** Difference of the current text from version `from`, in percent. */
  measured: z.optional(z.object({ from: z.int(), difference: z.number() })),
  lastError: z.optional(z.string()),
  lastErrorCode: z.optional(AttemptErrorCode),
  /** Start of the last finished check. */
  lastCheckedAt: z.optional(Timestamp),
  lastChangedAt: z.optional(Timestamp),
  lastNotifiedAt: z.optional(Timestamp),
  /** Last check that the owner requested. */
  syncedAt: z.optional(Timestamp),
  lease: z.optional(SourceLease),
});
export type Source = z.infer<typeof Source>;

/** Identifies a source: the parts of its key. */
export type SourceRef = Pick<Source, 'id' | 'orgId' | 'generation'>;

export type LeasedSource = Source & { lease: z.infer<typeof SourceLease> };

/** Creates a source without a check. */
export const createSource = (
  given: Pick<Source, 'id' | 'orgId' | 'generation' | 'kind' | 'url' | 'name' | 'createdAt'>,
): Source => ({
  ...given,
  nextCheckAt: given.createdAt,
  checks: 0,
  starts: 0,
  failures: 0,
  stored: [],
});

/**
 * The source as the API returns it. A failing source keeps its content; `difference` is absent until it is
 * measured from the version that admins know.
 */
export function toSourceView({ content, measured, baseline, ...source }: Source) {
  const { version, words, title, warnings = [] } = content ?? {};
  const status: SourceStatus =
    source.lastError !== undefined ? 'failing' : content === undefined ? 'pending' : 'ok';
  const isKnown = version !== undefined && version === baseline;
  const difference = isKnown ? 0 : measured?.from === baseline ? measured?.difference : undefined;
  return { ...source, status, version, words, title, difference, warnings };
}

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
      return row && Source.parse(row);
    },

    /** The row of a source to remove, which may be unreadable as a source. */
    findToRemove: (tenant: Tenant, id: SourceId) => get(knowledge, keys.source(tenant, id)),

    list(tenant: Tenant, page: PageRequest): Promise<Page<Source>> {
      const partitions = listShards(SOURCE_SHARDS).map((shard) => keys.sources(tenant, shard));
      return readPage(knowledge, partitions, page, { parse: (row) => Source.parse(row) });
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

const DueRow = z.object({ sk: SourceId, orgId: OrgId, generation: z.int(), dueAt: z.string() });

export type DueSource = SourceRef & { dueAt: string };

/** Builds the bus event of a due source. A source that becomes due again has another event id. */
export const buildDueEvent = ({ id, orgId, generation, dueAt }: DueSource, now: Date): BusEvent => ({
  id: `${id}#due#${dueAt}`,
  type: 'source.check',
  orgId,
  generation,
  createdAt: now.toISOString(),
  data: { sourceId: id },
});

/** Sparse index of sources by due time: its cost grows with the entries that are due. */
export function dueSources(knowledge: Table) {
  return {
    /**
     * Entries of a shard due by `until`, earliest first. Eventually consistent, like every index.
     * @param after end of the previous page
     */
    async find(shard: number, until: Date, after?: Row) {
      const where = expression`dueIn = ${keys.dueSources(shard)} AND dueAt <= ${until.toISOString()}`;
      // Ten batches of a queue; small enough that a run can end between two pages.
      const { rows, next } = await query(knowledge, { index: DUE_INDEX, where, limit: 100, after });
      const parsed = parseReadable(rows, (row): DueSource => {
        const { sk: id, ...entry } = DueRow.parse(row);
        return { id, ...entry };
      });
      return { ...parsed, ...(next && { next }) };
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
