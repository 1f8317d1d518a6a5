import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { OrgId } from './ids.ts';

/** Recipients that SES takes for one e-mail. */
export const MAX_RECIPIENTS = 50;

/**
 * What is stored of the e-mails about one thing. A claim is the right to send one; what becomes of it is not known until its worker has
 * settled or released it.
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
export interface Sending {
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
export type MailingStanding = 'free' | 'within-window' | 'done' | 'busy' | 'unknown';

/** Whether an e-mail may be sent. What has an unknown outcome counts as sent when its lease ended: it cannot have been later. */
export function mailingStandingOf(
  { sentAt, sentFor, claimedFor, leaseUntil }: Mailing,
  { eventId, windowSeconds }: Sending,
  now: Date,
): MailingStanding {
  if (sentFor === eventId) return 'done';
  if (leaseUntil !== undefined && leaseUntil > now.toISOString()) return 'busy';
  if (claimedFor === eventId) return 'unknown';
  const start = windowStart(windowSeconds, now);
  const isFree = [sentAt, leaseUntil].every((time) => time === undefined || time <= start);
  return isFree ? 'free' : 'within-window';
}

/** The latest time at which an e-mail may have gone for another to go at `now`. Nothing went before the epoch. */
export const windowStart = (windowSeconds: number, now: Date): string =>
  new Date(Math.max(0, now.getTime() - windowSeconds * 1000)).toISOString();

/** A disabling. @param eventId of the bus, which names it */
export const aboutDisabling = (eventId: string): string => `mail#${eventId}`;

/** The content at a URL, whichever of the organization's sources has it. */
export const aboutContent = (url: string): string =>
  `mail#source#${createHash('sha256').update(normalized(url)).digest('hex')}`;

/** What is not sent to a server makes no other source. */
function normalized(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.hash = '';
  return parsed.href;
}

/** The e-mail to the recipients number `chunk` (from 0), where one e-mail is not enough for all. */
export const aboutChunk = (about: string, chunk: number): string =>
  chunk === 0 ? about : `${about}#${chunk + 1}`;

/**
 * Whom to write to, in as many e-mails as it takes: each address once, however it is spelled, in the order given. What cannot be an address in a
 * message's header (RFC 5322, without RFC 6531, which SES does not do) would keep the e-mail from all others and is left out.
 * @returns the addresses of each e-mail, and how many were unfit
 */
export function recipientChunks(addresses: readonly string[]): { chunks: string[][]; unfit: number } {
  const fit = addresses.filter((address) => ADDRESS.test(address));
  const all = [...new Map(fit.map((address) => [address.toLowerCase(), address])).values()];
  const chunks = Array.from({ length: Math.ceil(all.length / MAX_RECIPIENTS) }, (_, chunk) =>
    all.slice(chunk * MAX_RECIPIENTS, (chunk + 1) * MAX_RECIPIENTS),
  );
  return { chunks, unfit: addresses.length - fit.length };
}

const ADDRESS = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@[\w-]+(?:\.[\w-]+)*$/i;
