import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DUE_INDEX, type UnreadableRow } from '../domain/due.ts';
import { OrgId } from '../domain/ids.ts';
import {
  Admission,
  addToDigest,
  buildAdmissionMailKey,
  buildBudgetMailKey,
  buildDigestMailKey,
  createDigest,
  Day,
  Digest,
  type DigestChange,
  type DueDigest,
  fitsLimit,
  type MailLimits,
  toDay,
} from '../domain/mailing.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Position } from './due-index.ts';
import { keys } from './keys.ts';
import { parseReadable, type Table, toExpiry, update } from './table.ts';
import { type Change, type Commit, Contended, committer, type Refusal } from './transaction.ts';

/** Longer than the retention of the queue's messages, as for mailings. */
const DAYS_KEPT = 90;
/** Days for which the service tries to send a digest. */
const DIGEST_DAYS_KEPT = 30;
/** Attempts at a decision under contention. */
const MAX_ROUNDS = 10;
/** A batch of a queue; small enough that a run can end between two pages. */
const PAGE = 100;

const Entry = z.object({ orgId: OrgId, day: Day });

export interface AdmissionRequest extends Tenant {
  eventId: string;
  change: DigestChange;
}

/** The decision, and the limit that refused the notice. */
export interface AdmissionResult {
  decision: Admission['decision'];
  refusedBy?: 'mail-budget' | 'mail-ceiling';
}

/** Decides which content notices get an e-mail of their own, and collects the others in daily digests. */
export function mailBudgets(
  mailings: Table,
  limits: MailLimits,
  {
    wait,
    random = Math.random,
  }: { wait?: (attempt: number) => Promise<unknown>; random?: () => number } = {},
) {
  const table = { TableName: mailings.name };
  const commit: Commit = committer(mailings.client, wait);
  const buildDigestKey = ({ orgId }: Pick<Tenant, 'orgId'>, day: string) =>
    keys.mailing(orgId, buildDigestMailKey(day));

  async function read(Key: { pk: string }): Promise<Record<string, unknown> | undefined> {
    const { Item } = await mailings.client.send(new GetCommand({ ...table, Key, ConsistentRead: true }));
    return Item;
  }

  /** Records one decision per event. A notice that was not sent on that day is decided again. */
  const buildDecision = (
    { orgId, eventId }: Pick<AdmissionRequest, 'orgId' | 'eventId'>,
    admission: Admission,
    now: Date,
  ): Change => ({
    refusal: 'mail-decided',
    write: {
      Put: {
        ...table,
        Item: {
          ...keys.mailing(orgId, buildAdmissionMailKey(eventId)),
          ...admission,
          expiresAt: toExpiry(now, DAYS_KEPT),
        },
        ConditionExpression: 'attribute_not_exists(pk) OR (decision = :notice AND #day < :day)',
        ExpressionAttributeNames: { '#day': 'day' },
        ExpressionAttributeValues: { ':notice': 'notice', ':day': admission.day },
      },
    },
  });

  const buildSpending = (
    Key: { pk: string },
    refusal: Refusal,
    { recipients, limit, now }: { recipients: number; limit: number; now: Date },
  ): Change => ({
    refusal,
    write: {
      Update: {
        ...table,
        Key,
        UpdateExpression: 'SET expiresAt = :expiry ADD recipients :recipients',
        ConditionExpression: fitsLimit(0, recipients, limit)
          ? 'attribute_not_exists(recipients) OR recipients <= :left'
          : 'recipients < :left',
        ExpressionAttributeValues: {
          ':recipients': recipients,
          ':left': limit - recipients,
          ':expiry': toExpiry(now, DAYS_KEPT),
        },
      },
    },
  });

  const buildStageSpending = (recipients: number, now: Date): Change =>
    buildSpending({ pk: keys.stageMailing(buildBudgetMailKey(toDay(now))) }, 'mail-ceiling', {
      recipients,
      limit: limits.stage,
      now,
    });
  const buildOrganizationSpending = (orgId: OrgId, recipients: number, now: Date): Change =>
    buildSpending(keys.mailing(orgId, buildBudgetMailKey(toDay(now))), 'mail-budget', {
      recipients,
      limit: limits.organization,
      now,
    });

  /** Adds a change to a digest, on condition that the digest did not change since it was read. */
  const buildDigestChange = (request: AdmissionRequest, known: Digest | undefined, now: Date): Change => {
    const day = toDay(now);
    const digest = addToDigest(known ?? createDigest(request, day, random()), request.change);
    return {
      refusal: 'digest-changed',
      write: {
        Put: {
          ...table,
          Item: {
            ...buildDigestKey(request, day),
            ...digest,
            dueIn: keys.dueDigests(),
            expiresAt: toExpiry(now, DIGEST_DAYS_KEPT),
          },
          ConditionExpression:
            known === undefined
              ? 'attribute_not_exists(pk)'
              : 'changes = :known AND attribute_not_exists(closedAt)',
          ...(known === undefined ? {} : { ExpressionAttributeValues: { ':known': known.changes } }),
        },
      },
    };
  };

  return {
    /**
     * Decides whether a notice gets its own e-mail, which charges its recipients, or joins the day's digest.
     * Decision and effects are one transaction. After the day's first digest entry, all changes join the
     * digest.
     * @param recipients called only for a notice that may be sent
     * @throws Contended under contention, or when the day's digest is closed
     */
    async admit(
      request: AdmissionRequest,
      recipients: () => Promise<number>,
      now: Date,
    ): Promise<AdmissionResult> {
      const day = toDay(now);
      let refusedBy: AdmissionResult['refusedBy'];
      for (let round = 1; round <= MAX_ROUNDS; round += 1) {
        const [decided, row] = await Promise.all([
          read(keys.mailing(request.orgId, buildAdmissionMailKey(request.eventId))),
          read(buildDigestKey(request, day)),
        ]);
        const earlier = decided && Admission.parse(decided);
        if (earlier?.decision === 'digest' || earlier?.day === day) return { decision: earlier.decision };
        if (row === undefined && refusedBy === undefined) {
          const count = await recipients();
          const result = await commit([
            buildDecision(request, { decision: 'notice', day }, now),
            buildOrganizationSpending(request.orgId, count, now),
            buildStageSpending(count, now),
          ]);
          if (result.kind === 'committed') return { decision: 'notice' };
          const { refusal } = result;
          if (refusal === 'mail-budget' || refusal === 'mail-ceiling') refusedBy = refusal;
        }
        if (row !== undefined || refusedBy !== undefined) {
          const result = await commit([
            buildDecision(request, { decision: 'digest', day }, now),
            buildDigestChange(request, row && Digest.parse(row), now),
          ]);
          if (result.kind === 'committed')
            return { decision: 'digest', ...(refusedBy === undefined ? {} : { refusedBy }) };
        }
      }
      throw new Contended(`the notice ${request.eventId} could not be decided about ${MAX_ROUNDS} times`);
    },

    /**
     * Charges the recipients of a digest. Only the stage's limit applies.
     * @returns whether it may be sent today
     */
    async admitDigest(
      request: Pick<AdmissionRequest, 'orgId' | 'generation' | 'eventId'>,
      count: number,
      now: Date,
    ): Promise<boolean> {
      const day = toDay(now);
      const result = await commit([
        buildDecision(request, { decision: 'notice', day }, now),
        buildStageSpending(count, now),
      ]);
      return result.kind === 'committed' || result.refusal === 'mail-decided';
    },

    /**
     * Closes a digest.
     * @returns its content; undefined when there is none
     */
    async close(tenant: Pick<Tenant, 'orgId'>, day: string, now: Date): Promise<Digest | undefined> {
      await update(mailings, {
        Key: buildDigestKey(tenant, day),
        UpdateExpression: 'SET closedAt = if_not_exists(closedAt, :now)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': now.toISOString() },
      });
      const row = await read(buildDigestKey(tenant, day));
      return row && Digest.parse(row);
    },

    /** Removes a digest from the due index: it was sent, or is obsolete. */
    async finish(tenant: Pick<Tenant, 'orgId'>, day: string): Promise<void> {
      await update(mailings, {
        Key: buildDigestKey(tenant, day),
        UpdateExpression: 'REMOVE dueIn, dueAt',
        ConditionExpression: 'attribute_exists(pk)',
      });
    },
  };
}

/** Sparse index of digests to send: organizations without one cost nothing. */
export function dueDigests(mailings: Table) {
  return {
    /**
     * Digests due by `until`, earliest first.
     * @param after end of the previous page
     */
    async find(
      until: Date,
      after?: Position,
    ): Promise<{ entries: DueDigest[]; unreadable: UnreadableRow[]; next?: Position }> {
      const { Items = [], LastEvaluatedKey } = await mailings.client.send(
        new QueryCommand({
          TableName: mailings.name,
          IndexName: DUE_INDEX,
          KeyConditionExpression: 'dueIn = :dueIn AND dueAt <= :until',
          ExpressionAttributeValues: { ':dueIn': keys.dueDigests(), ':until': until.toISOString() },
          Limit: PAGE,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      const found = parseReadable(Items, (row) => {
        const { orgId, day } = Entry.parse(row);
        return { orgId, day, dueAt: String(row.dueAt) };
      });
      return { ...found, ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }) };
    },

    /** Does nothing when the entry has moved or is gone. */
    async postpone({ orgId, day, dueAt }: DueDigest, until: Date): Promise<void> {
      await update(mailings, {
        Key: keys.mailing(orgId, buildDigestMailKey(day)),
        UpdateExpression: 'SET dueAt = :until',
        ConditionExpression: 'dueAt = :dueAt',
        ExpressionAttributeValues: { ':dueAt': dueAt, ':until': until.toISOString() },
      });
    },
  };
}
