import { assign, type Expression, expression } from '../aws/expression.ts';
import { buildPut, buildUpdate, get, type Table, toExpiry, update } from '../aws/table.ts';
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
  const commit: Commit = committer(mailings.client, wait);
  const budgetKey = ({ orgId, kind }: AdmissionRequest, now: Date) =>
    keys.mailing(orgId, buildBudgetMailKey(kind, toDay(now)));

  /** Records one decision per event. An e-mail that was not sent on that day is decided again. */
  const buildDecision = ({ orgId, eventId }: AdmissionRequest, now: Date): Change => {
    const day = toDay(now);
    const key = keys.mailing(orgId, buildAdmissionMailKey(eventId));
    return buildPut(
      mailings,
      { ...key, day, expiresAt: toExpiry(now, DAYS_KEPT) },
      { refusal: 'mail-decided', if: expression`attribute_not_exists(pk) OR #day < ${day}` },
    );
  };

  const buildSpending = (
    key: { pk: string },
    recipients: number,
    now: Date,
    { refusal, bound }: { refusal: 'mail-budget' | 'mail-ceiling'; bound: Expression | undefined },
  ): Change =>
    buildUpdate(mailings, key, {
      refusal,
      update: expression`SET expiresAt = ${toExpiry(now, DAYS_KEPT)} ADD recipients ${recipients}`,
      if: bound,
    });

  return {
    /**
     * Whether the event was admitted today, or else whether others of its kind can be: after the first
     * refusal of a day no e-mail of the kind is sent to the organization.
     */
    async find(request: AdmissionRequest, now: Date): Promise<'admitted' | 'open' | 'closed'> {
      const [decision, budget] = await Promise.all([
        get(mailings, keys.mailing(request.orgId, buildAdmissionMailKey(request.eventId))),
        get(mailings, budgetKey(request, now)),
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
      const key = budgetKey(request, now);
      const ceilingKey = { pk: keys.stageMailing(buildStageBudgetMailKey(toDay(now))) };
      const isUnused = expression`attribute_not_exists(recipients)`;
      const isWithin = (most: number) => expression`recipients <= ${most - count}`;
      const result = await commit([
        buildDecision(request, now),
        buildSpending(key, count, now, {
          refusal: 'mail-budget',
          bound: expression`${isUnused} OR ${isWithin(organization)}`,
        }),
        buildSpending(ceilingKey, count, now, {
          refusal: 'mail-ceiling',
          bound:
            stage === undefined
              ? undefined
              : count <= stage
                ? expression`${isUnused} OR ${isWithin(stage)}`
                : isWithin(stage),
        }),
      ]);
      if (result.kind === 'committed' || result.refusal === 'mail-decided') return 'send';
      if (result.refusal !== 'mail-budget' && result.refusal !== 'mail-ceiling')
        throw new Defect(`the e-mail ${request.eventId} was refused: ${result.refusal}`);
      const closing = { isClosed: true, expiresAt: toExpiry(now, DAYS_KEPT) };
      await update(mailings, key, { update: expression`SET ${assign(closing)}` });
      return result.refusal === 'mail-budget' ? 'over-budget' : 'over-ceiling';
    },
  };
}
