import { QueryCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { AttemptError } from '../domain/attempt-error.ts';
import {
  type ClaimedDelivery,
  type Delivery,
  DeliveryMessage,
  type DeliveryRef,
  type Lease,
  OPEN_STATUSES,
  type Settlement,
  type SkipReason,
} from '../domain/delivery.ts';
import {
  DUE_INDEX,
  type DueEntry,
  type DueRef,
  type DueState,
  type PostponeReason,
  type UnreadableRow,
} from '../domain/due.ts';
import type { ParkedTurn } from '../domain/endpoint-rate.ts';
import { DUE_END, keys } from './keys.ts';
import { parseReadable, type Table, update } from './table.ts';

/*
 * Updates of delivery rows, and the due index, whose attributes are in the same rows.
 */

export const buildDeliveryKey = (ref: DeliveryRef) => keys.delivery(ref.webhookId, ref.generation, ref.id);

/** An update of a delivery, without its table. */
export type DeliveryUpdate = Omit<UpdateCommandInput, 'TableName' | 'UpdateExpression'> & {
  UpdateExpression: string;
};

const [PENDING, RETRYING] = OPEN_STATUSES;
const IS_OPEN = '#status IN (:pending, :retrying)';
const IS_UNLEASED = '(attribute_not_exists(lease) OR lease.#until <= :nowMs)';
const IS_DUE = '(attribute_not_exists(nextRetryAt) OR nextRetryAt <= :now)';

const IS_NOT_DEFERRED = 'attribute_not_exists(isDeferred)';

/** Puts a delivery into the due index, or moves it there. */
const SET_PLACE = 'dueIn = :dueIn, dueKey = :dueKey';
const buildPlaceValues = (state: DueState, { id, orgId }: Pick<DueRef, 'id' | 'orgId'>, dueAt: Date) => ({
  ':dueIn': keys.dueOf(state, id),
  ':dueKey': keys.dueKey(orgId, dueAt.toISOString()),
});

const IS_UNMOVED = 'dueIn = :wasDueIn AND dueKey = :wasDueKey';
const buildUnmovedValues = ({ message: { id, orgId }, state, dueAt }: DueEntry) => ({
  ':wasDueIn': keys.dueOf(state, id),
  ':wasDueKey': keys.dueKey(orgId, dueAt),
});

const UNTIL = { '#until': 'until' };
/** Removed when a delivery ends; the first two are the keys of the due index. */
const DUE_FIELDS = ['dueIn', 'dueKey', 'parked', 'isDeferred', 'turn'];
const ENDED_FIELDS = ['lease', 'nextRetryAt', 'atRealSpeed', ...DUE_FIELDS].join(', ');
const buildUnleasedValues = (now: Date) => ({ ':nowMs': now.getTime() });

/**
 * Every update of a delivery is built here, and refused for one that has ended: a terminal delivery never
 * changes.
 */
const buildOpenUpdate = (
  ref: DeliveryRef,
  { ConditionExpression, ...update }: Omit<DeliveryUpdate, 'Key'> & { ConditionExpression: string },
): DeliveryUpdate => ({
  ...update,
  Key: buildDeliveryKey(ref),
  ConditionExpression: `${IS_OPEN} AND ${ConditionExpression}`,
  ExpressionAttributeNames: { '#status': 'status', ...update.ExpressionAttributeNames },
  ExpressionAttributeValues: {
    ':pending': PENDING,
    ':retrying': RETRYING,
    ...update.ExpressionAttributeValues,
  },
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
});

/** Makes the next attempt of a retrying delivery due, unless it changed since it was read. */
export const buildRetryUpdate = (delivery: Delivery, now: Date): DeliveryUpdate =>
  buildOpenUpdate(delivery, {
    UpdateExpression: 'SET nextRetryAt = :now',
    ConditionExpression: `#status = :retrying AND attempts = :attempts AND ${IS_UNLEASED}`,
    ExpressionAttributeNames: UNTIL,
    ExpressionAttributeValues: {
      ':now': now.toISOString(),
      ':attempts': delivery.attempts,
      ':nowMs': now.getTime(),
    },
  });

/** Claims an open, unleased, due delivery with attempts left, and counts the attempt. */
export function buildClaimUpdate(
  ref: DeliveryRef,
  lease: Lease,
  now: Date,
  maxAttempts: number,
): DeliveryUpdate {
  return buildOpenUpdate(ref, {
    UpdateExpression: 'SET lease = :lease ADD attempts :one',
    ConditionExpression: `${IS_UNLEASED} AND ${IS_DUE} AND attempts < :max`,
    ExpressionAttributeNames: UNTIL,
    ExpressionAttributeValues: {
      ...buildUnleasedValues(now),
      ':lease': lease,
      ':one': 1,
      ':now': now.toISOString(),
      ':max': maxAttempts,
    },
    ReturnValues: 'ALL_NEW',
  });
}

/**
 * Records an attempt while the claim's lease holds.
 * @param graceSeconds seconds past due after which the next attempt's message counts as lost
 */
export function buildSettleUpdate(
  claimed: ClaimedDelivery,
  settlement: Settlement,
  graceSeconds: number,
): DeliveryUpdate {
  const { attempt } = settlement;
  const sets = ['#status = :status', 'attemptLog = list_append(attemptLog, :attempt)'];
  const removes = ['lease'];
  const values: Record<string, unknown> = {
    ':status': settlement.kind,
    ':attempt': [attempt],
    ':token': claimed.lease.token,
    ':nowMs': settlement.at.getTime(),
  };
  const set = (field: string, value: unknown) => {
    sets.push(`${field} = :${field}`);
    values[`:${field}`] = value;
  };
  if (settlement.atRealSpeed !== undefined) set('atRealSpeed', settlement.atRealSpeed);
  else if (claimed.atRealSpeed !== undefined) removes.push('atRealSpeed');
  if (settlement.kind !== 'succeeded') {
    set('lastError', settlement.attempt.error);
    set('lastErrorCode', settlement.attempt.errorCode);
  }
  if (attempt.status !== undefined) set('lastResponseStatus', attempt.status);
  // The last attempt got no answer, so an earlier status no longer applies.
  else removes.push('lastResponseStatus');
  if (settlement.kind === 'retrying') {
    // Keep `isDeferred`: the reconciler removes it when it sends the message.
    const { nextRetryAt, wait } = settlement;
    set('nextRetryAt', nextRetryAt.toISOString());
    if (claimed.turn !== undefined) removes.push('turn');
    const isParked = wait.hold === 'parked';
    if (isParked) set('parked', true);
    else removes.push('parked');
    const dueAt = isParked ? nextRetryAt : new Date(nextRetryAt.getTime() + graceSeconds * 1000);
    sets.push(SET_PLACE);
    Object.assign(values, buildPlaceValues(isParked ? 'parked' : 'watched', claimed, dueAt));
  } else {
    set('terminalAt', settlement.at.toISOString());
    if (settlement.terminalReason !== undefined) set('terminalReason', settlement.terminalReason);
    removes.push('nextRetryAt', ...DUE_FIELDS);
  }
  return buildOpenUpdate(claimed, {
    UpdateExpression: `SET ${sets.join(', ')} REMOVE ${removes.join(', ')}`,
    ConditionExpression: 'lease.#token = :token AND lease.#until > :nowMs',
    ExpressionAttributeNames: { ...UNTIL, '#token': 'token' },
    ExpressionAttributeValues: values,
  });
}

/** Parks an open, unleased, due delivery, whose attempt must wait for its turn at its endpoint. */
export function buildParkUpdate(ref: DueRef, turn: ParkedTurn, resumedAt: Date, now: Date): DeliveryUpdate {
  return buildOpenUpdate(ref, {
    UpdateExpression: `SET parked = :true, nextRetryAt = :until, turn = :turn, ${SET_PLACE}`,
    ConditionExpression: `${IS_UNLEASED} AND ${IS_DUE}`,
    ExpressionAttributeNames: UNTIL,
    ExpressionAttributeValues: {
      ...buildUnleasedValues(now),
      ':now': now.toISOString(),
      ':true': true,
      ':until': resumedAt.toISOString(),
      ':turn': turn,
      ...buildPlaceValues('parked', ref, resumedAt),
    },
  });
}

/** Ends a delivery whose last attempt was started and never settled. */
export function buildExhaustUpdate(
  ref: DeliveryRef,
  { error, errorCode }: AttemptError,
  maxAttempts: number,
  now: Date,
): DeliveryUpdate {
  return buildOpenUpdate(ref, {
    UpdateExpression: `SET #status = :exhausted, terminalAt = :now, terminalReason = :reason, lastError = :lastError, lastErrorCode = :lastErrorCode REMOVE ${ENDED_FIELDS}`,
    ConditionExpression: `${IS_UNLEASED} AND attempts >= :max`,
    ExpressionAttributeNames: UNTIL,
    ExpressionAttributeValues: {
      ...buildUnleasedValues(now),
      ':exhausted': 'exhausted',
      ':now': now.toISOString(),
      ':reason': 'max_attempts',
      ':lastError': error,
      ':lastErrorCode': errorCode,
      ':max': maxAttempts,
    },
  });
}

/**
 * Ends an open, unleased delivery without an attempt. It does not expire while its message is deferred: it
 * was not lost, and is sent once more.
 */
export function buildSkipUpdate(ref: DeliveryRef, reason: SkipReason, now: Date): DeliveryUpdate {
  return buildOpenUpdate(ref, {
    UpdateExpression: `SET #status = :skipped, terminalAt = :now, terminalReason = :reason REMOVE ${ENDED_FIELDS}`,
    ConditionExpression: [IS_UNLEASED, ...(reason === 'expired' ? [IS_NOT_DEFERRED] : [])].join(' AND '),
    ExpressionAttributeNames: UNTIL,
    ExpressionAttributeValues: {
      ...buildUnleasedValues(now),
      ':skipped': 'skipped',
      ':now': now.toISOString(),
      ':reason': reason,
    },
  });
}

function buildExpireUpdate(entry: DueEntry, now: Date): DeliveryUpdate {
  const update = buildSkipUpdate(entry.message, 'expired', now);
  return {
    ...update,
    ConditionExpression: `${update.ConditionExpression} AND ${IS_UNMOVED}`,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...buildUnmovedValues(entry) },
  };
}

function buildWatchUpdate(ref: DueRef, dueAt: Date): DeliveryUpdate {
  return buildOpenUpdate(ref, {
    UpdateExpression: `SET ${SET_PLACE}`,
    ConditionExpression: 'attribute_not_exists(dueIn)',
    ExpressionAttributeValues: {
      ...buildPlaceValues('watched', ref, dueAt),
    },
  });
}

function buildPostponeUpdate(entry: DueEntry, until: Date, reason: PostponeReason): DeliveryUpdate {
  const { message: deliveryMessage } = entry;
  const [set, removed] = reason === 'deferred' ? [', isDeferred = :true', ''] : ['', ', isDeferred'];
  return buildOpenUpdate(deliveryMessage, {
    UpdateExpression: `SET ${SET_PLACE}${set} REMOVE parked${removed}`,
    ConditionExpression: IS_UNMOVED,
    ExpressionAttributeValues: {
      ...buildUnmovedValues(entry),
      ...buildPlaceValues('watched', deliveryMessage, until),
      ...(reason === 'deferred' ? { ':true': true } : {}),
    },
  });
}

/** DynamoDB key of a page's last row, to continue from. */
export type Position = Record<string, unknown>;

/** Rows of a page; small enough that a run can end between two pages. */
const PAGE = 100;
/** Of an organization on a page of all: a batch of a queue. */
const SHARE = 10;

/** A range of a partition: of all organizations, or of one. */
export type DueRange = { first: string; last: string; isOfOne: boolean; after?: Position };

/**
 * Sparse index of deliveries for the reconciler, sorted by organization and then by time: a read skips the
 * organizations that it has seen, however much they have waiting
 * (docs/decisions/0034-turns-by-organization.md).
 */
export function dueIndex(deliveries: Table) {
  return {
    /** Adds an open delivery whose message counts as lost from `dueAt`, unless it has an entry. */
    async watch(ref: DueRef, dueAt: Date): Promise<void> {
      await update(deliveries, buildWatchUpdate(ref, dueAt));
    },

    /** Moves an entry's due time. Does nothing when the entry has moved since it was read. */
    async postpone(entry: DueEntry, until: Date, reason: PostponeReason = 'sent'): Promise<void> {
      await update(deliveries, buildPostponeUpdate(entry, until, reason));
    },

    /**
     * Ends an open, unleased delivery as expired. Refused when its entry moved: a message may be in flight.
     */
    async expire(entry: DueEntry, now: Date): Promise<'done' | 'refused'> {
      const isDone = ({ terminalAt }: Record<string, unknown>) => terminalAt === now.toISOString();
      return (await update(deliveries, buildExpireUpdate(entry, now), isDone)) ? 'done' : 'refused';
    },

    /**
     * Entries of a shard due by `until`: a share of each organization, its earliest first. Eventually
     * consistent, like every index.
     * @param position where a page continues with further organizations, or with more of one
     * @returns `next` for further organizations, and `more` for those that have more than their share
     */
    async find(
      state: DueState,
      shard: number,
      until: Date,
      position: DueRange = ALL,
    ): Promise<{ entries: DueEntry[]; unreadable: UnreadableRow[]; next?: DueRange; more: DueRange[] }> {
      const { first, last, isOfOne, after } = position;
      const { Items = [], LastEvaluatedKey } = await deliveries.client.send(
        new QueryCommand({
          TableName: deliveries.name,
          IndexName: DUE_INDEX,
          KeyConditionExpression: 'dueIn = :dueIn AND dueKey BETWEEN :first AND :last',
          ExpressionAttributeValues: { ':dueIn': keys.due(state, shard), ':first': first, ':last': last },
          Limit: PAGE,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      const lastOrganization = LastEvaluatedKey && splitDueKey(LastEvaluatedKey.dueKey).orgId;
      const taken: Record<string, unknown>[] = [];
      const more: DueRange[] = [];
      for (const [orgId, rows] of Map.groupBy(Items, ({ dueKey }) => splitDueKey(dueKey).orgId)) {
        const end = keys.dueKey(orgId, until.toISOString());
        const due = rows.filter(({ dueKey }) => dueKey <= end);
        const share = isOfOne ? due : due.slice(0, SHARE);
        taken.push(...share);
        const isCut = orgId === lastOrganization && due.length === rows.length;
        const lastTaken = share.at(-1);
        if (lastTaken !== undefined && (isCut || share.length < due.length))
          more.push({
            first: keys.dueKey(orgId, ''),
            last: end,
            isOfOne: true,
            after: toPosition(lastTaken),
          });
      }
      const found = parseReadable(taken, (row) => ({
        message: DeliveryMessage.parse({ ...row, id: row.sk }),
        state,
        dueAt: splitDueKey(row.dueKey).dueAt,
        ...(row.isDeferred === true ? { isDeferred: true as const } : {}),
      }));
      const next = isOfOne ? undefined : lastOrganization;
      return { ...found, more, ...(next && { next: { ...ALL, first: `${next}${DUE_END}` } }) };
    },
  };
}

const ALL: DueRange = { first: '#', last: '~', isOfOne: false };

const toPosition = ({ pk, sk, dueIn, dueKey }: Record<string, unknown>): Position => ({
  pk,
  sk,
  dueIn,
  dueKey,
});

function splitDueKey(dueKey: unknown): { orgId: string; dueAt: string } {
  const [orgId = '', dueAt = ''] = String(dueKey).split('#');
  return { orgId, dueAt };
}
