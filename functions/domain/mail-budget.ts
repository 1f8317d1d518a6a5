import * as z from 'zod/mini';
import type { BusEvent, NoticeData } from './bus.ts';
import { OrgId, SourceId } from './ids.ts';
import { aboutContent } from './mailing.ts';
import { SourceKind } from './source.ts';

/**
 * Recipients of content notices: of one organization in a UTC day, and of the whole stage. SES counts
 * recipients, not messages.
 */
export interface MailLimits {
  organization: number;
  stage: number;
}
export const DEFAULT_MAIL_LIMITS: MailLimits = { organization: 100, stage: 40_000 };

/**
 * Sources that a digest names. Changes of others are only counted, so that its row and its e-mail stay small.
 */
export const MAX_DIGEST_SOURCES = 25;
/** UTF-16 code units of a URL in a digest. */
const MAX_DIGEST_URL = 200;
/**
 * Digests become due within this time after their day, so that those of all organizations do not go at once.
 */
const DIGEST_SPREAD_SECONDS = 3600;
/**
 * After which a digest that is still due gets another message: longer than its last message can be retried.
 */
export const DIGEST_RESEND_SECONDS = 7200;

/** A UTC day, which a budget and a digest are for. */
export const Day = z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/));
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

/**
 * Whether a notice is sent by itself, and by which day's budget, or is left to the digest of that day.
 * Decided once for each event.
 */
export const Admission = z.object({ decision: z.enum(['notice', 'digest']), day: Day });
export type Admission = z.infer<typeof Admission>;

/** A change that no notice was sent for. */
export interface DigestChange {
  sourceId: SourceId;
  url: string;
  kind: SourceKind;
  version: number;
  /** In percent. */
  difference: number;
}

const DigestLine = z.object({
  url: z.string(),
  kind: SourceKind,
  /** What the e-mails about this URL are known by. */
  about: z.string(),
  /** The latest one, which admins know once the digest is sent. */
  version: z.int(),
  changes: z.int(),
  /** The greatest, in percent. */
  difference: z.number(),
});
type DigestLine = z.infer<typeof DigestLine>;

/** The changes of an organization's sources in one day for which its budget did not suffice. */
export const Digest = z.object({
  orgId: OrgId,
  generation: z.int(),
  day: Day,
  /** All of them, also those of sources that have no line. */
  changes: z.int(),
  sources: z.record(SourceId, DigestLine),
  /** Of sources that have no line. */
  others: z.object({ changes: z.int(), difference: z.number() }),
  dueAt: z.optional(z.iso.datetime()),
  /** From here on nothing is added. */
  closedAt: z.optional(z.iso.datetime()),
});
export type Digest = z.infer<typeof Digest>;

/** A digest with nothing in it. @param random from 0 to 1 */
export const newDigest = (
  { orgId, generation }: Pick<Digest, 'orgId' | 'generation'>,
  day: string,
  random: number,
): Digest => ({
  orgId,
  generation,
  day,
  changes: 0,
  sources: {},
  others: { changes: 0, difference: 0 },
  dueAt: new Date(
    Date.parse(`${day}T00:00:00.000Z`) + 86_400_000 + Math.floor(random * DIGEST_SPREAD_SECONDS) * 1000,
  ).toISOString(),
});

/** Adds one change. A source keeps its line, whatever else comes. */
export function withChange(digest: Digest, change: DigestChange): Digest {
  const { sourceId, url, kind, version, difference } = change;
  const changes = digest.changes + 1;
  const known = digest.sources[sourceId];
  if (known === undefined && Object.keys(digest.sources).length >= MAX_DIGEST_SOURCES) {
    const { others } = digest;
    return {
      ...digest,
      changes,
      others: { changes: others.changes + 1, difference: Math.max(others.difference, difference) },
    };
  }
  const line: DigestLine = {
    url: url.slice(0, MAX_DIGEST_URL).toWellFormed(),
    kind,
    about: aboutContent(url),
    version: Math.max(version, known?.version ?? 0),
    changes: (known?.changes ?? 0) + 1,
    difference: Math.max(difference, known?.difference ?? 0),
  };
  return { ...digest, changes, sources: { ...digest.sources, [sourceId]: line } };
}

/** Whether recipients still fit into what a limit leaves. */
export const fits = (spent: number, recipients: number, limit: number): boolean =>
  spent + recipients <= limit;

export const aboutDigest = (day: string): string => `mail#digest#${day}`;
export const aboutBudget = (day: string): string => `mail#budget#${day}`;
export const aboutAdmission = (eventId: string): string => `mail#admission#${eventId}`;

/** A digest that is due, as its index has it. */
export interface DueDigest extends Pick<Digest, 'orgId' | 'day'> {
  dueAt: string;
}

/**
 * Says that a digest is due, as the bus would. Live organizations alone have digests, and those have one
 * generation.
 */
export const digestEvent = ({ orgId, day }: DueDigest, now: Date): BusEvent => ({
  id: `${orgId}#digest#${day}`,
  type: 'source.digest',
  orgId,
  generation: 0,
  createdAt: now.toISOString(),
  data: { day } satisfies NoticeData<'source.digest'>,
});
