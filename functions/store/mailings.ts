import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
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
import { readItem, type Table, toExpiry, update } from './table.ts';

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
  const release = (request: MailRequest, token: string): Promise<boolean> =>
    update(mailings, {
      Key: buildKey(request),
      UpdateExpression: 'REMOVE claimedFor, claimToken, leaseUntil',
      ConditionExpression: 'claimToken = :token',
      ExpressionAttributeValues: { ':token': token },
    });

  const read = async (request: MailRequest): Promise<Mailing> =>
    Mailing.parse((await readItem(mailings, buildKey(request))) ?? {});

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
      try {
        await mailings.client.send(
          new UpdateCommand({
            TableName: mailings.name,
            Key: buildKey(sending),
            UpdateExpression:
              'SET claimedFor = :event, claimToken = :token, leaseUntil = :until, expiresAt = :expiry',
            // `getMailingState` as a condition. An open lease ends later than any window begins.
            ConditionExpression: [
              '(attribute_not_exists(sentFor) OR sentFor <> :event)',
              '(attribute_not_exists(claimedFor) OR claimedFor <> :event)',
              '(attribute_not_exists(sentAt) OR sentAt <= :start)',
              '(attribute_not_exists(leaseUntil) OR leaseUntil <= :start)',
            ].join(' AND '),
            ExpressionAttributeValues: {
              ':event': sending.eventId,
              ':token': token,
              ':until': new Date(now.getTime() + leaseSeconds * 1000).toISOString(),
              ':expiry': toExpiry(now, DAYS_KEPT),
              ':start': computeWindowStart(sending.windowSeconds, now),
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return { kind: 'claimed', token };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) {
          // The write may have taken effect. Release the claim and send nothing.
          await release(sending, token).catch(() => false);
          throw error;
        }
        const found = Mailing.parse(error.Item === undefined ? {} : unmarshall(error.Item));
        // The SDK repeats a request whose response was lost, so this claim may already be on the row.
        if (found.claimToken === token) return { kind: 'claimed', token };
        const kind = getMailingState(found, sending, now);
        if (kind !== 'free') return { kind };
        throw new Defect(`the claim of ${sending.about} was refused although its row allows it`, {
          cause: error,
        });
      }
    },

    /**
     * Records that the claimed e-mail was sent.
     * @returns whether the claim existed
     */
    settle(sending: MailRequest, token: string, now: Date): Promise<boolean> {
      return update(mailings, {
        Key: buildKey(sending),
        UpdateExpression: 'SET sentAt = :now, sentFor = claimedFor REMOVE claimedFor, claimToken, leaseUntil',
        ConditionExpression: 'claimToken = :token',
        ExpressionAttributeValues: { ':token': token, ':now': now.toISOString() },
      });
    },

    release,
  };
}
