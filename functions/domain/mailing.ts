import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { NoticeType } from './bus.ts';
import type { OrgId, ReceiverId } from './ids.ts';
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
  kind: MailKind;
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

/** When an e-mail about another event is allowed; undefined after none. */
export function computeWindowEnd(
  { sentAt, leaseUntil }: Mailing,
  { windowSeconds }: Pick<MailRequest, 'windowSeconds'>,
): Date | undefined {
  const [last] = [sentAt, leaseUntil]
    .filter((time) => time !== undefined)
    .toSorted()
    .toReversed();
  return last === undefined ? undefined : new Date(Date.parse(last) + windowSeconds * 1000);
}

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

/** Recipients of one kind of e-mail per UTC day. SES counts recipients, not messages. */
export interface MailLimits {
  /** For one organization. The first e-mail of a day goes to all admins, however many they are. */
  organization: number;
  /** For all kinds and organizations together; absent for e-mail that the rest of SES's quota is kept for. */
  stage?: number;
}

/**
 * The daily budget of each notice that admins get as e-mail; `false` for the others. What exceeds it is in
 * the dashboard only (docs/decisions/0021-mail-budget.md).
 */
export const MAIL_BUDGETS = {
  'source.changed': { organization: 100, stage: 40_000 },
  'webhook.failing': { organization: 50 },
  'webhook.disabled': { organization: 50 },
  'webhook.redelivery': false,
  'source.check': false,
  'source.deleted': false,
} as const satisfies Record<NoticeType, MailLimits | false>;

/** A notice that admins get as e-mail. */
export type MailKind = {
  [T in NoticeType]: (typeof MAIL_BUDGETS)[T] extends false ? never : T;
}[NoticeType];

export type MailBudgets = Record<MailKind, MailLimits>;

/** The table with the limits of a deployment for e-mail about content. */
export const buildMailBudgets = (content: Required<MailLimits>): MailBudgets => {
  const { 'webhook.failing': failing, 'webhook.disabled': disabled } = MAIL_BUDGETS;
  return { 'source.changed': content, 'webhook.failing': failing, 'webhook.disabled': disabled };
};

/** A UTC day, the period of a budget. */
export const toDay = (now: Date): string => now.toISOString().slice(0, 10);

export const buildBudgetMailKey = (kind: MailKind, day: string): string => `mail#budget#${kind}#${day}`;
export const buildStageBudgetMailKey = (day: string): string => `mail#budget#${day}`;
export const buildAdmissionMailKey = (eventId: string): string => `mail#admission#${eventId}`;
