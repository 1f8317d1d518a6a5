import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { countWords } from './difference.ts';
import { OrgId, SourceId } from './ids.ts';
import { Timestamp } from './timestamp.ts';

/**
 * Expected content of a source's URL: an HTML page; CSV or XLSX; RSS or Atom (docs/specification.md,
 * Content-change notifications).
 */
export const SourceKind = z.enum(['url', 'spreadsheet', 'feed']);
export type SourceKind = z.infer<typeof SourceKind>;

/** Maximum number of sources of a tenant (docs/specification.md, Limits). */
export const MAX_SOURCES = 1000;

/** Maximum size of a response. Extraction holds it and its text in memory. */
export const MAX_SOURCE_BYTES = 5 * 1024 * 1024;
/**
 * Maximum size of an extracted text in UTF-8. It is written in one transaction, of which DynamoDB takes 4 MB.
 */
export const MAX_TEXT_BYTES = 1_000_000;
/** UTF-16 code units. */
const MAX_TITLE = 300;

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

/** Properties of the current text. */
export const SourceContent = z.object({
  version: z.int(),
  digest: z.string(),
  words: z.int(),
  title: z.optional(z.string()),
  /** Validators of the response (RFC 9110, 8.8). */
  etag: z.optional(z.string()),
  lastModified: z.optional(z.string()),
});
export type SourceContent = z.infer<typeof SourceContent>;

/** The right to write a check's result. `token` fences it; `until` in ms since the epoch. */
const SourceLease = z.object({ token: z.string(), since: Timestamp, until: z.number() });
type SourceLease = z.infer<typeof SourceLease>;

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

export type LeasedSource = Source & { lease: SourceLease };

/** Creates a source without a check. */
export const createSource = ({
  createdAt,
  ...given
}: Pick<Source, 'id' | 'orgId' | 'generation' | 'kind' | 'url' | 'name' | 'createdAt'>): Source => ({
  ...given,
  createdAt,
  nextCheckAt: createdAt,
  checks: 0,
  starts: 0,
  failures: 0,
  stored: [],
});

/** Result of the last check. A failing source keeps its content. */
export const getSourceStatus = ({
  content,
  lastError,
}: Pick<Source, 'content' | 'lastError'>): SourceStatus => {
  if (lastError !== undefined) return 'failing';
  return content === undefined ? 'pending' : 'ok';
};

/**
 * The source as the API returns it. `difference` is absent until it is measured from the version that admins
 * know.
 */
export function toSourceView({ content, measured, baseline, ...source }: Source) {
  const { version, words, title } = content ?? {};
  const isKnown = version !== undefined && version === baseline;
  const sinceKnown = measured?.from === baseline ? measured?.difference : undefined;
  return {
    ...source,
    status: getSourceStatus({ content, ...source }),
    version,
    words,
    title,
    difference: isKnown ? 0 : sinceKnown,
  };
}

/** Share of the interval by which a check may be earlier, at random. */
const SPREAD = 0.1;

/**
 * Schedules the next check: after the interval at the latest, a little earlier at random, so that sources
 * created together do not stay in step.
 * @param random from 0 to 1
 */
export const scheduleNextCheck = (checkedAt: Date, everySeconds: number, random: number): Date =>
  new Date(checkedAt.getTime() + Math.round(everySeconds * 1000 * (1 - SPREAD * random)));

/** Properties to store of a fetched text. */
export const toSourceContent = (
  version: number,
  found: { text: string; title?: string; etag?: string; lastModified?: string },
): SourceContent => {
  const title = found.title?.trim().slice(0, MAX_TITLE).toWellFormed();
  return {
    version,
    digest: createHash('sha256').update(found.text).digest('hex'),
    words: countWords(found.text),
    ...(title === undefined || title === '' ? {} : { title }),
    ...(found.etag === undefined ? {} : { etag: found.etag }),
    ...(found.lastModified === undefined ? {} : { lastModified: found.lastModified }),
  };
};
