import { randomUUID } from 'node:crypto';
import { all, assign, expression } from '../aws/expression.ts';
import { get, type Table, toExpiry, update } from '../aws/table.ts';
import {
  computeWindowEnd,
  computeWindowStart,
  getMailingState,
  Mailing,
  type MailingState,
  type MailRequest,
} from '../domain/mailing.ts';
import { Defect } from '../domain/problem.ts';
import { keys } from './keys.ts';

/** Longer than any window, and than the retention of the queue's messages. */
const DAYS_KEPT = 90;

export type MailingClaim = { kind: 'claimed'; token: string } | { kind: Exclude<MailingState, 'free'> };

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
    async state(sending: MailRequest, now: Date): Promise<MailingState> {
      return getMailingState(await read(sending), sending, now);
    },

    /** When an e-mail about another event is allowed; undefined after none. */
    async windowEnd(request: MailRequest): Promise<Date | undefined> {
      return computeWindowEnd(await read(request), request);
    },

    /**
     * Claims an e-mail by one conditional write, so that one of several concurrent callers succeeds. Keeps
     * the data of earlier e-mails, for a release.
     * @param leaseSeconds within which the e-mail must be sent
     */
    async claim(sending: MailRequest, now: Date, leaseSeconds: number): Promise<MailingClaim> {
      const token = randomUUID();
      const { eventId } = sending;
      const start = computeWindowStart(sending.windowSeconds, now);
      const claim = {
        claimedFor: eventId,
        claimToken: token,
        leaseUntil: new Date(now.getTime() + leaseSeconds * 1000).toISOString(),
        expiresAt: toExpiry(now, DAYS_KEPT),
      };
      const { kind, row } = await update(mailings, buildKey(sending), {
        update: expression`SET ${assign(claim)}`,
        // `getMailingState` as a condition. An open lease ends later than any window begins.
        if: all(
          expression`(attribute_not_exists(sentFor) OR sentFor <> ${eventId})`,
          expression`(attribute_not_exists(claimedFor) OR claimedFor <> ${eventId})`,
          expression`(attribute_not_exists(sentAt) OR sentAt <= ${start})`,
          expression`(attribute_not_exists(leaseUntil) OR leaseUntil <= ${start})`,
        ),
        isDone: ({ claimToken }) => claimToken === token,
      }).catch(async (error: unknown) => {
        // The write may have taken effect. Release the claim and send nothing.
        await release(sending, token).catch(() => false);
        throw error;
      });
      if (kind === 'done') return { kind: 'claimed', token };
      const state = getMailingState(Mailing.parse(row ?? {}), sending, now);
      if (state !== 'free') return { kind: state };
      throw new Defect(`the claim of ${sending.about} was refused although its row allows it`);
    },

    /**
     * Records that the claimed e-mail was sent.
     * @returns whether the claim existed
     */
    async settle(sending: MailRequest, token: string, now: Date): Promise<boolean> {
      const { kind } = await update(mailings, buildKey(sending), {
        update: expression`SET sentAt = ${now.toISOString()}, sentFor = claimedFor REMOVE claimedFor, claimToken, leaseUntil`,
        if: expression`claimToken = ${token}`,
      });
      return kind === 'done';
    },

    release,
  };
}
