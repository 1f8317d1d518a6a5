import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { BusEvent, NoticeData } from './bus.ts';
import { OrgId, type ReceiverId, SourceId } from './ids.ts';
import { SourceKind } from './source.ts';
import { Timestamp } from './timestamp.ts';

/** Maximum recipients of one e-mail in SES. */
export const MAX_RECIPIENTS = 50;

/**
 * State of the e-mails about one thing. A claim is the right to send one; its outcome is unknown until the
 * worker settles or releases it.
 */
export const Mailing = z.object({
  /** When the last e-mail was certainly sent, and its event. */
  sentAt: z.optional(Timestamp),
  sentFor: z.optional(z.string()),
  /** The event of the open claim, its fencing token, and when its worker must have ended. */
  claimedFor: z.optional(z.string()),
  claimToken: z.optional(z.string()),
  leaseUntil: z.optional(Timestamp),
});
export type Mailing = z.infer<typeof Mailing>;

/** An e-mail to send. */
export interface MailRequest {
  orgId: OrgId;
  /** What it is about; within the window there is one e-mail for each. */
  about: string;
  /** The event that caused it; it may arrive more than once. */
  eventId: string;
  /** Seconds without a second e-mail; `Infinity` for an e-mail that is sent once. */
  windowSeconds: number;
}

/**
 * - `free`: it can be claimed
 * - `within-window`: an e-mail about another event was sent too recently
 * - `done`: the e-mail about this event was sent
 * - `busy`: another worker is sending
 * - `unknown`: a worker claimed this event and was lost
 */
export type MailingState = 'free' | 'within-window' | 'done' | 'busy' | 'unknown';

/**
 * Whether an e-mail can be sent. An unknown outcome counts as sent at the end of its lease, the latest
 * possible time.
 */
export function getMailingState(
  { sentAt, sentFor, claimedFor, leaseUntil }: Mailing,
  { eventId, windowSeconds }: MailRequest,
  now: Date,
): MailingState {
  if (sentFor === eventId) return 'done';
  if (leaseUntil !== undefined && leaseUntil > now.toISOString()) return 'busy';
  if (claimedFor === eventId) return 'unknown';
  const start = computeWindowStart(windowSeconds, now);
  const isFree = [sentAt, leaseUntil].every((time) => time === undefined || time <= start);
  return isFree ? 'free' : 'within-window';
}

/**
 * Latest time of the previous e-mail at which another one is allowed at `now`. Not before the epoch.
 */
export const computeWindowStart = (windowSeconds: number, now: Date): string =>
  new Date(Math.max(0, now.getTime() - windowSeconds * 1000)).toISOString();

/** @param eventId of the bus event of the disabling */
export const buildDisablingMailKey = (eventId: string): string => `mail#${eventId}`;

/** Seconds in which admins get at most one warning about an endpoint that keeps failing and recovering. */
export const WARNING_WINDOW_SECONDS = 86_400;

export const buildWarningMailKey = (id: ReceiverId): string => `mail#failing#${id}`;

/** Shared by all of the organization's sources with the URL. */
export const buildContentMailKey = (url: string): string =>
  `mail#source#${createHash('sha256').update(normalizeUrl(url)).digest('hex')}`;

/** Drops the fragment, which is not sent to a server. */
function normalizeUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.hash = '';
  return parsed.href;
}

/** @param chunk number of a group of recipients, from 0 */
export const buildChunkMailKey = (about: string, chunk: number): string =>
  chunk === 0 ? about : `${about}#${chunk + 1}`;

/**
 * Groups recipients into e-mails: each address once, compared case-insensitively, in the given order. Invalid
 * addresses (RFC 5322; SES does not support RFC 6531) are dropped, because one would block the e-mail to all
 * others.
 * @returns the groups, and the number of dropped addresses
 */
export function splitRecipients(addresses: readonly string[]): { chunks: string[][]; unfit: number } {
  const fit = addresses.filter((address) => ADDRESS.test(address));
  const all = [...new Map(fit.map((address) => [address.toLowerCase(), address])).values()];
  const chunks = Array.from({ length: Math.ceil(all.length / MAX_RECIPIENTS) }, (_, chunk) =>
    all.slice(chunk * MAX_RECIPIENTS, (chunk + 1) * MAX_RECIPIENTS),
  );
  return { chunks, unfit: addresses.length - fit.length };
}

const ADDRESS = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@[\w-]+(?:\.[\w-]+)*$/i;

/**
 * Recipients of content notices per UTC day, for one organization and for the stage. SES counts recipients,
 * not messages.
 */
export interface MailLimits {
  organization: number;
  stage: number;
}
export const DEFAULT_MAIL_LIMITS: MailLimits = { organization: 100, stage: 40_000 };

/** Sources listed in a digest. Further changes are only counted, which bounds the row and the e-mail. */
export const MAX_DIGEST_SOURCES = 25;
/** UTF-16 code units of a URL in a digest. */
const MAX_DIGEST_URL = 200;
/** Digests become due at a random time within this period after their day, which spreads the load. */
const DIGEST_SPREAD_SECONDS = 3600;
/**
 * Seconds after which a digest that is still due gets another message: longer than a message can be retried.
 */
export const DIGEST_RESEND_SECONDS = 7200;

/** A UTC day, the period of a budget and a digest. */
export const Day = z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/));
export const toDay = (now: Date): string => now.toISOString().slice(0, 10);

/**
 * Whether a notice is sent alone, and the day of the budget, or goes to that day's digest. Decided once per
 * event.
 */
export const Admission = z.object({ decision: z.enum(['notice', 'digest']), day: Day });
export type Admission = z.infer<typeof Admission>;

/** A change without a notice of its own. */
export interface DigestChange {
  sourceId: SourceId;
  url: string;
  kind: SourceKind;
  version: number;
  /** Percent. */
  difference: number;
}

const DigestLine = z.object({
  url: z.string(),
  kind: SourceKind,
  /** Mail key of the URL. */
  about: z.string(),
  /** Latest version; it is the one that admins know once the digest is sent. */
  version: z.int(),
  changes: z.int(),
  /** Largest difference, in percent. */
  difference: z.number(),
});
type DigestLine = z.infer<typeof DigestLine>;

/** Changes of an organization's sources on one day that exceeded its budget. */
export const Digest = z.object({
  orgId: OrgId,
  generation: z.int(),
  day: Day,
  /** All changes, including those of unlisted sources. */
  changes: z.int(),
  sources: z.record(SourceId, DigestLine),
  /** Changes of unlisted sources. */
  others: z.object({ changes: z.int(), difference: z.number() }),
  dueAt: z.optional(Timestamp),
  /** Nothing is added from here on. */
  closedAt: z.optional(Timestamp),
});
export type Digest = z.infer<typeof Digest>;

/**
 * Creates an empty digest.
 * @param random from 0 to 1
 */
export const createDigest = (
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

/** Adds a change. A listed source stays listed. */
export function addToDigest(digest: Digest, change: DigestChange): Digest {
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
    about: buildContentMailKey(url),
    version: Math.max(version, known?.version ?? 0),
    changes: (known?.changes ?? 0) + 1,
    difference: Math.max(difference, known?.difference ?? 0),
  };
  return { ...digest, changes, sources: { ...digest.sources, [sourceId]: line } };
}

/** Whether the recipients fit into the rest of a limit. */
export const fitsLimit = (spent: number, recipients: number, limit: number): boolean =>
  spent + recipients <= limit;

export const buildDigestMailKey = (day: string): string => `mail#digest#${day}`;
export const buildBudgetMailKey = (day: string): string => `mail#budget#${day}`;
export const buildAdmissionMailKey = (eventId: string): string => `mail#admission#${eventId}`;

/** A due digest as its index has it. */
export interface DueDigest extends Pick<Digest, 'orgId' | 'day'> {
  dueAt: string;
}

/** Builds the bus event of a due digest. Only live organizations have digests, in generation 0. */
export const buildDigestEvent = ({ orgId, day }: DueDigest, now: Date): BusEvent => ({
  id: `${orgId}#digest#${day}`,
  type: 'source.digest',
  orgId,
  generation: 0,
  createdAt: now.toISOString(),
  data: { day } satisfies NoticeData<'source.digest'>,
});
