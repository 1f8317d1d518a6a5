import type { OrgId } from '../domain/ids.ts';
import {
  buildAdmissionMailKey,
  buildBudgetMailKey,
  buildStageBudgetMailKey,
  type MailBudgets,
  type MailKind,
  toDay,
} from '../domain/mailing.ts';
import { Defect } from '../domain/problem.ts';
import { keys } from './keys.ts';
import { readItem, type Table, toExpiry, update } from './table.ts';
import { type Change, type Commit, committer } from './transaction.ts';

/** Longer than the retention of the queue's messages, as for mailings. */
const DAYS_KEPT = 90;

export interface AdmissionRequest {
  orgId: OrgId;
  kind: MailKind;
  eventId: string;
}

/** `over-budget`: of the organization; `over-ceiling`: of all organizations. */
export type Admission = 'send' | 'over-budget' | 'over-ceiling';

/** Decides whether an e-mail fits into the budgets of its kind, and counts its recipients. */
export function mailBudgets(
  mailings: Table,
  budgets: MailBudgets,
  wait?: (attempt: number) => Promise<unknown>,
) {
  const table = { TableName: mailings.name };
  const commit: Commit = committer(mailings.client, wait);
  const budgetKey = ({ orgId, kind }: AdmissionRequest, now: Date) =>
    keys.mailing(orgId, buildBudgetMailKey(kind, toDay(now)));

  /** Records one decision per event. An e-mail that was not sent on that day is decided again. */
  const buildDecision = ({ orgId, eventId }: AdmissionRequest, now: Date): Change => ({
    refusal: 'mail-decided',
    write: {
      Put: {
        ...table,
        Item: {
          ...keys.mailing(orgId, buildAdmissionMailKey(eventId)),
          day: toDay(now),
          expiresAt: toExpiry(now, DAYS_KEPT),
        },
        ConditionExpression: 'attribute_not_exists(pk) OR #day < :day',
        ExpressionAttributeNames: { '#day': 'day' },
        ExpressionAttributeValues: { ':day': toDay(now) },
      },
    },
  });

  const buildSpending = (
    Key: { pk: string },
    recipients: number,
    now: Date,
    bound?: { condition: string; left: number },
  ): Change['write'] => ({
    Update: {
      ...table,
      Key,
      UpdateExpression: 'SET expiresAt = :expiry ADD recipients :recipients',
      ExpressionAttributeValues: {
        ':recipients': recipients,
        ':expiry': toExpiry(now, DAYS_KEPT),
        ...(bound && { ':left': bound.left }),
      },
      ...(bound && { ConditionExpression: bound.condition }),
    },
  });

  return {
    /**
     * Whether the event was admitted today, or else whether others of its kind can be: after the first
     * refusal of a day no e-mail of the kind is sent to the organization.
     */
    async find(request: AdmissionRequest, now: Date): Promise<'admitted' | 'open' | 'closed'> {
      const [decision, budget] = await Promise.all([
        readItem(mailings, keys.mailing(request.orgId, buildAdmissionMailKey(request.eventId))),
        readItem(mailings, budgetKey(request, now)),
      ]);
      if (decision?.day === toDay(now)) return 'admitted';
      return budget?.isClosed === true ? 'closed' : 'open';
    },

    /**
     * Decides once per event and day.
     * @param count of the recipients
     * @throws Contended
     */
    async admit(request: AdmissionRequest, count: number, now: Date): Promise<Admission> {
      const { organization, stage } = budgets[request.kind];
      const Key = budgetKey(request, now);
      const result = await commit([
        buildDecision(request, now),
        {
          refusal: 'mail-budget',
          write: buildSpending(Key, count, now, {
            condition: 'attribute_not_exists(recipients) OR recipients <= :left',
            left: organization - count,
          }),
        },
        {
          refusal: 'mail-ceiling',
          write: buildSpending(
            { pk: keys.stageMailing(buildStageBudgetMailKey(toDay(now))) },
            count,
            now,
            stage === undefined
              ? undefined
              : {
                  condition: `${count <= stage ? 'attribute_not_exists(recipients) OR ' : ''}recipients <= :left`,
                  left: stage - count,
                },
          ),
        },
      ]);
      if (result.kind === 'committed' || result.refusal === 'mail-decided') return 'send';
      if (result.refusal !== 'mail-budget' && result.refusal !== 'mail-ceiling')
        throw new Defect(`the e-mail ${request.eventId} was refused: ${result.refusal}`);
      await update(mailings, {
        Key,
        UpdateExpression: 'SET isClosed = :true, expiresAt = :expiry',
        ExpressionAttributeValues: { ':true': true, ':expiry': toExpiry(now, DAYS_KEPT) },
      });
      return result.refusal === 'mail-budget' ? 'over-budget' : 'over-ceiling';
    },
  };
}
