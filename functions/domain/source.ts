import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { countWords } from './difference.ts';
import { OrgId, SourceId } from './ids.ts';

/**
 * What a source's URL is expected to give: an HTML page; CSV or XLSX; RSS or Atom (decisions.md,
 * Content-change notifications).
 */
export const SourceKind = z.enum(['url', 'spreadsheet', 'feed']);
export type SourceKind = z.infer<typeof SourceKind>;

/** Sources a tenant may have (decisions.md, Error types: LIMIT_EXCEEDED). */
export const MAX_SOURCES = 1000;

/** What is read of a response. Extraction holds it, and what it makes of it, in memory. */
export const MAX_SOURCE_BYTES = 5 * 1024 * 1024;
/**
 * Of extracted text, in UTF-8. With its parts it is written in one transaction, of which DynamoDB takes 4 MB.
 */
export const MAX_TEXT_BYTES = 1_000_000;
/** Of a title, in UTF-16 code units. */
const MAX_TITLE = 300;

/**
 * How long after its message was sent a source comes up again, if nobody has checked it meanwhile. Seconds.
 * Nothing is wrong when it comes twice: what was checked since is not checked again.
 */
export const RESEND_SECONDS = 900;

export const SourceStatus = z.enum(['pending', 'ok', 'failing']);
export type SourceStatus = z.infer<typeof SourceStatus>;

/** A version whose text is stored, in so many parts. */
export const StoredVersion = z.object({
  version: z.int(),
  parts: z.int(),
  /** A notice told of it, so that it may become the one that admins know. */
  announced: z.optional(z.literal(true)),
});
export type StoredVersion = z.infer<typeof StoredVersion>;

/** What is known of the present text. */
export const SourceContent = z.object({
  version: z.int(),
  digest: z.string(),
  words: z.int(),
  title: z.optional(z.string()),
  /** Validators of the response that it came with (RFC 9110, 8.8). */
  etag: z.optional(z.string()),
  lastModified: z.optional(z.string()),
});
export type SourceContent = z.infer<typeof SourceContent>;

/** The right to write what a check found; `token` fences it. `until` in milliseconds since the epoch. */
export const SourceLease = z.object({ token: z.string(), since: z.iso.datetime(), until: z.number() });
export type SourceLease = z.infer<typeof SourceLease>;

/** A source of knowledge as it is stored. */
export const Source = z.object({
  id: SourceId,
  orgId: OrgId,
  generation: z.int(),
  kind: SourceKind,
  url: z.string(),
  name: z.optional(z.string()),
  createdAt: z.iso.datetime(),
  nextCheckAt: z.iso.datetime(),
  /** Checks that have ended. */
  checks: z.int(),
  /** Checks begun since one last ended: those whose worker was lost. */
  starts: z._default(z.int(), 0),
  /** Checks that failed since one last brought content. */
  failures: z.int(),
  /** All versions whose text may be there. */
  stored: z.array(StoredVersion),
  /** Absent until the first import. */
  content: z.optional(SourceContent),
  /** The version that admins know: the one they were last told of, or the first. */
  baseline: z.optional(z.int()),
  /** How far the present text is from the version `from`, in percent. */
  measured: z.optional(z.object({ from: z.int(), difference: z.number() })),
  lastError: z.optional(z.string()),
  /** When the last check that has ended began. */
  lastCheckedAt: z.optional(z.iso.datetime()),
  lastChangedAt: z.optional(z.iso.datetime()),
  lastNotifiedAt: z.optional(z.iso.datetime()),
  /** When its owner last asked for a check. */
  syncedAt: z.optional(z.iso.datetime()),
  lease: z.optional(SourceLease),
});
export type Source = z.infer<typeof Source>;

/** What names a source: enough for its key. */
export type SourceRef = Pick<Source, 'id' | 'orgId' | 'generation'>;

/** A source under a lease. */
export type LeasedSource = Source & { lease: SourceLease };

/** A source that nobody has looked at yet. */
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

/** What the last check came to. A source that fails keeps the content that it had. */
export const getSourceStatus = ({
  content,
  lastError,
}: Pick<Source, 'content' | 'lastError'>): SourceStatus => {
  if (lastError !== undefined) return 'failing';
  return content === undefined ? 'pending' : 'ok';
};

/**
 * A source as its owner sees it. `difference` is absent while it is not measured from the version that admins
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

/** The part of the interval by which checks come earlier, at random. */
const SPREAD = 0.1;

/**
 * When a source is checked next: not later than the interval after this check, and a little earlier by
 * chance, so that sources that were created at once do not stay in step.
 * @param random from 0 to 1
 */
export const scheduleNextCheck = (checkedAt: Date, everySeconds: number, random: number): Date =>
  new Date(checkedAt.getTime() + Math.round(everySeconds * 1000 * (1 - SPREAD * random)));

/** What is remembered of a text that was fetched. */
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
