import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { all, assign, type Expression, expression } from '../aws/expression.ts';
import { type OrgId, Timestamp } from '../aws/ids.ts';
import { Defect } from '../aws/logger.ts';
import { get, type Table, toExpiry, update } from '../aws/table.ts';
import { buildPut, buildUpdate, committer } from '../aws/transaction.ts';
import { keys } from '../tenancy/keys.ts';
import type { MailBudgets, MailKind } from './mail.ts';

/** Longer than any window, and than the retention of the queue's messages. */
const DAYS_KEPT = 90;

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

/** Shared by all of the organization's sources with the URL. Without the fragment, which is not sent. */
export function buildContentMailKey(url: string): string {
  const [address] = (URL.parse(url)?.href ?? url).split('#');
  return `mail#source#${createHash('sha256').update(String(address)).digest('hex')}`;
}

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
function getMailingState(
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

/** `getMailingState` as a condition. An open lease ends later than any window begins. */
const isFree = ({ eventId, windowSeconds }: MailRequest, now: Date): Expression | undefined => {
  const start = computeWindowStart(windowSeconds, now);
  return all(
    expression`(attribute_not_exists(sentFor) OR sentFor <> ${eventId})`,
    expression`(attribute_not_exists(claimedFor) OR claimedFor <> ${eventId})`,
    expression`(attribute_not_exists(sentAt) OR sentAt <= ${start})`,
    expression`(attribute_not_exists(leaseUntil) OR leaseUntil <= ${start})`,
  );
};

/** Latest time of the previous e-mail at which another one is allowed at `now`. Not before the epoch. */
const computeWindowStart = (windowSeconds: number, now: Date): string =>
  new Date(Math.max(0, now.getTime() - windowSeconds * 1000)).toISOString();

export type MailingStore = ReturnType<typeof mailingStore>;

/** Records sent e-mails, so that none is sent twice. */
export function mailingStore(mailings: Table) {
  const buildKey = ({ orgId, about }: MailRequest) => keys.mailing(orgId, about);

  /**
   * Releases a claim when no e-mail was sent.
   * @returns whether the claim existed
   */
  async function release(request: MailRequest, token: string): Promise<boolean> {
    const { kind } = await update(mailings, buildKey(request), {
      update: expression`REMOVE claimedFor, claimToken, leaseUntil`,
      if: expression`claimToken = ${token}`,
    });
    return kind === 'done';
  }

  const read = async (request: MailRequest): Promise<Mailing> =>
    Mailing.parse((await get(mailings, buildKey(request))) ?? {});

  return {
    /** Whether an e-mail can be claimed now. */
    async state(request: MailRequest, now: Date): Promise<MailingState> {
      return getMailingState(await read(request), request, now);
    },

    /** When an e-mail about another event is allowed; undefined after none. */
    async windowEnd(request: MailRequest): Promise<Date | undefined> {
      const { sentAt, leaseUntil } = await read(request);
      const ends = [sentAt, leaseUntil].flatMap((time) => (time === undefined ? [] : Date.parse(time)));
      return ends.length === 0 ? undefined : new Date(Math.max(...ends) + request.windowSeconds * 1000);
    },

    /**
     * Claims an e-mail by one conditional write, so that one of several concurrent callers succeeds. Keeps
     * the data of earlier e-mails, for a release.
     * @param leaseSeconds within which the e-mail must be sent
     */
    async claim(
      request: MailRequest,
      now: Date,
      leaseSeconds: number,
    ): Promise<{ kind: 'claimed'; token: string } | { kind: Exclude<MailingState, 'free'> }> {
      const token = randomUUID();
      const claim = {
        claimedFor: request.eventId,
        claimToken: token,
        leaseUntil: new Date(now.getTime() + leaseSeconds * 1000).toISOString(),
        expiresAt: toExpiry(now, DAYS_KEPT),
      };
      const { kind, row } = await update(mailings, buildKey(request), {
        update: expression`SET ${assign(claim)}`,
        if: isFree(request, now),
        isDone: ({ claimToken }) => claimToken === token,
      }).catch(async (error: unknown) => {
        // The write may have taken effect. Release the claim and send nothing.
        await release(request, token).catch(() => false);
        throw error;
      });
      if (kind === 'done') return { kind: 'claimed', token };
      const state = getMailingState(Mailing.parse(row ?? {}), request, now);
      if (state !== 'free') return { kind: state };
      throw new Defect(`the claim of ${request.about} was refused although its row allows it`);
    },

    /**
     * Records that the claimed e-mail was sent.
     * @returns whether the claim existed
     */
    async settle(request: MailRequest, token: string, now: Date): Promise<boolean> {
      const { kind } = await update(mailings, buildKey(request), {
        update: expression`SET sentAt = ${now.toISOString()}, sentFor = claimedFor REMOVE claimedFor, claimToken, leaseUntil`,
        if: expression`claimToken = ${token}`,
      });
      return kind === 'done';
    },

    release,
  };
}

/** A UTC day, the period of a budget. */
const toDay = (now: Date): string => now.toISOString().slice(0, 10);

/** When the next budget begins. */
export const getNextDay = (now: Date): Date => new Date(Date.parse(toDay(now)) + 86_400_000);

export type AdmissionRequest = Pick<MailRequest, 'orgId' | 'kind' | 'eventId'>;

/** `over-budget`: of the organization; `over-ceiling`: of all organizations. */
export type Admission = 'send' | 'over-budget' | 'over-ceiling';

export type MailBudgetStore = ReturnType<typeof mailBudgets>;

/** Decides whether an e-mail fits into the budgets of its kind, and counts its recipients. */
export function mailBudgets(
  mailings: Table,
  budgets: MailBudgets,
  wait?: (attempt: number) => Promise<unknown>,
) {
  const commit = committer(mailings.client, wait);
  const decisionKey = ({ orgId, eventId }: AdmissionRequest) =>
    keys.mailing(orgId, `mail#admission#${eventId}`);
  const budgetKey = ({ orgId, kind }: AdmissionRequest, day: string) =>
    keys.mailing(orgId, `mail#budget#${kind}#${day}`);

  return {
    /**
     * Whether the event was admitted today, or else whether others of its kind can be: after the first
     * refusal of a day no e-mail of the kind is sent to the organization.
     */
    async find(request: AdmissionRequest, now: Date): Promise<'admitted' | 'open' | 'closed'> {
      const day = toDay(now);
      const [decision, budget] = await Promise.all([
        get(mailings, decisionKey(request)),
        get(mailings, budgetKey(request, day)),
      ]);
      if (decision?.day === day) return 'admitted';
      return budget?.isClosed === true ? 'closed' : 'open';
    },

    /**
     * Decides once per event and day.
     * @param recipients number of the recipients
     * @throws Contended
     */
    async admit(request: AdmissionRequest, recipients: number, now: Date): Promise<Admission> {
      const day = toDay(now);
      const expiresAt = toExpiry(now, DAYS_KEPT);
      const { organization, stage } = budgets[request.kind];
      const spending = expression`SET expiresAt = ${expiresAt} ADD recipients ${recipients}`;
      const isUnused = expression`attribute_not_exists(recipients)`;
      const isWithin = (most: number) => expression`recipients <= ${most - recipients}`;
      const result = await commit([
        // An e-mail that was not sent on that day is decided again.
        buildPut(
          mailings,
          { ...decisionKey(request), day, expiresAt },
          { refusal: 'mail-decided', if: expression`attribute_not_exists(pk) OR #day < ${day}` },
        ),
        // The first e-mail of a day goes to all admins.
        buildUpdate(mailings, budgetKey(request, day), {
          refusal: 'mail-budget',
          update: spending,
          if: expression`${isUnused} OR ${isWithin(organization)}`,
        }),
        buildUpdate(
          mailings,
          { pk: keys.stageMailing(`mail#budget#${day}`) },
          {
            refusal: 'mail-ceiling',
            update: spending,
            if:
              stage === undefined
                ? undefined
                : recipients <= stage
                  ? expression`${isUnused} OR ${isWithin(stage)}`
                  : isWithin(stage),
          },
        ),
      ]);
      if (result.kind === 'committed' || result.refusal === 'mail-decided') return 'send';
      if (result.refusal !== 'mail-budget' && result.refusal !== 'mail-ceiling')
        throw new Defect(`the e-mail ${request.eventId} was refused: ${result.refusal}`);
      await update(mailings, budgetKey(request, day), {
        update: expression`SET ${assign({ isClosed: true, expiresAt })}`,
      });
      return result.refusal === 'mail-budget' ? 'over-budget' : 'over-ceiling';
    },
  };
}
