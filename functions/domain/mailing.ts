import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { BusEvent, NoticeData } from './bus.ts';
import { OrgId, SourceId } from './ids.ts';
import { SourceKind } from './source.ts';

/** Recipients that SES takes for one e-mail. */
export const MAX_RECIPIENTS = 50;

/**
 * What is stored of the e-mails about one thing. A claim is the right to send one; what becomes of it is not
 * known until its worker has settled or released it.
 */
export const Mailing = z.object({
  /** When the last e-mail that is known to have gone was sent, and the event that it told of. */
  sentAt: z.optional(z.iso.datetime()),
  sentFor: z.optional(z.string()),
  /** The event that the open claim is for, the token that fences it, and when its worker must have ended. */
  claimedFor: z.optional(z.string()),
  claimToken: z.optional(z.string()),
  leaseUntil: z.optional(z.iso.datetime()),
});
export type Mailing = z.infer<typeof Mailing>;

/** An e-mail that is to be sent. */
export interface MailRequest {
  orgId: OrgId;
  /** What it is about: within the window there is one e-mail for each. */
  about: string;
  /** The event that it tells of, which may come more than once. */
  eventId: string;
  /** For which there is no second one; `Infinity` for one that is sent once. */
  windowSeconds: number;
}

/**
 * - `free`: it may be claimed
 * - `within-window`: another event was told of too recently
 * - `done`: this event was told of
 * - `busy`: somebody is sending
 * - `unknown`: this event was claimed by somebody who never said what became of it
 */
export type MailingState = 'free' | 'within-window' | 'done' | 'busy' | 'unknown';

/**
 * Whether an e-mail may be sent. What has an unknown outcome counts as sent when its lease ended: it cannot
 * have been later.
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
 * The latest time at which an e-mail may have gone for another to go at `now`. Nothing went before the epoch.
 */
export const computeWindowStart = (windowSeconds: number, now: Date): string =>
  new Date(Math.max(0, now.getTime() - windowSeconds * 1000)).toISOString();

/** A disabling. @param eventId of the bus, which names it */
export const disablingMailKey = (eventId: string): string => `mail#${eventId}`;

/** The content at a URL, whichever of the organization's sources has it. */
export const contentMailKey = (url: string): string =>
  `mail#source#${createHash('sha256').update(normalizeUrl(url)).digest('hex')}`;

/** What is not sent to a server makes no other source. */
function normalizeUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.hash = '';
  return parsed.href;
}

/** The e-mail to the recipients number `chunk` (from 0), where one e-mail is not enough for all. */
export const chunkMailKey = (about: string, chunk: number): string =>
  chunk === 0 ? about : `${about}#${chunk + 1}`;

/**
 * Whom to write to, in as many e-mails as it takes: each address once, however it is spelled, in the order
 * given. What cannot be an address in a message's header (RFC 5322, without RFC 6531, which SES does not do)
 * would keep the e-mail from all others and is left out.
 * @returns the addresses of each e-mail, and how many were unfit
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
export const toDay = (now: Date): string => now.toISOString().slice(0, 10);

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

/** Adds one change. A source keeps its line, whatever else comes. */
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
    about: contentMailKey(url),
    version: Math.max(version, known?.version ?? 0),
    changes: (known?.changes ?? 0) + 1,
    difference: Math.max(difference, known?.difference ?? 0),
  };
  return { ...digest, changes, sources: { ...digest.sources, [sourceId]: line } };
}

/** Whether recipients still fit into what a limit leaves. */
export const fitsLimit = (spent: number, recipients: number, limit: number): boolean =>
  spent + recipients <= limit;

export const digestMailKey = (day: string): string => `mail#digest#${day}`;
export const budgetMailKey = (day: string): string => `mail#budget#${day}`;
export const admissionMailKey = (eventId: string): string => `mail#admission#${eventId}`;

/** A digest that is due, as its index has it. */
export interface DueDigest extends Pick<Digest, 'orgId' | 'day'> {
  dueAt: string;
}

/**
 * Says that a digest is due, as the bus would. Live organizations alone have digests, and those have one
 * generation.
 */
export const buildDigestEvent = ({ orgId, day }: DueDigest, now: Date): BusEvent => ({
  id: `${orgId}#digest#${day}`,
  type: 'source.digest',
  orgId,
  generation: 0,
  createdAt: now.toISOString(),
  data: { day } satisfies NoticeData<'source.digest'>,
});
