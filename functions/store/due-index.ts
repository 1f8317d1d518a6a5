import { QueryCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
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
  type DueState,
  type PostponeReason,
  type UnreadableRow,
} from '../domain/due.ts';
import type { ParkedTurn } from '../domain/endpoint-rate.ts';
import { keys } from './keys.ts';
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

const IS_UNMOVED = 'dueIn = :dueIn AND dueAt = :dueAt';
const buildPlaceValues = ({ message: deliveryMessage, state, dueAt }: DueEntry) => ({
  ':dueIn': keys.dueOf(state, deliveryMessage.id),
  ':dueAt': dueAt,
});

const names = { '#status': 'status', '#until': 'until' };
/** Removed when a delivery ends; the first two are the keys of the due index. */
const DUE_FIELDS = ['dueIn', 'dueAt', 'parked', 'isDeferred', 'turn'];
const ENDED_FIELDS = ['lease', 'nextRetryAt', 'atRealSpeed', ...DUE_FIELDS].join(', ');
const buildUnleasedValues = (now: Date) => ({
  ':pending': PENDING,
  ':retrying': RETRYING,
  ':nowMs': now.getTime(),
});

/** Makes the next attempt of a retrying delivery due, unless it changed since it was read. */
export const buildRetryUpdate = (delivery: Delivery, now: Date): DeliveryUpdate => ({
  Key: buildDeliveryKey(delivery),
  UpdateExpression: 'SET nextRetryAt = :now',
  ConditionExpression: `#status = :retrying AND attempts = :attempts AND ${IS_UNLEASED}`,
  ExpressionAttributeNames: names,
  ExpressionAttributeValues: {
    ':now': now.toISOString(),
    ':retrying': RETRYING,
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
  return {
    Key: buildDeliveryKey(ref),
    UpdateExpression: 'SET lease = :lease ADD attempts :one',
    ConditionExpression: `${IS_OPEN} AND ${IS_UNLEASED} AND ${IS_DUE} AND attempts < :max`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...buildUnleasedValues(now),
      ':lease': lease,
      ':one': 1,
      ':now': now.toISOString(),
      ':max': maxAttempts,
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
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
  if (attempt.error !== undefined) set('lastError', attempt.error);
  if (attempt.status !== undefined) set('lastResponseStatus', attempt.status);
  // The last attempt got no answer, so an earlier status no longer applies.
  else removes.push('lastResponseStatus');
  if (settlement.kind === 'retrying') {
    // Keep `isDeferred`: the reconciler removes it when it sends the message.
    const { nextRetryAt, wait } = settlement;
    set('nextRetryAt', nextRetryAt.toISOString());
    if (claimed.turn !== undefined) removes.push('turn');
    if (wait.hold === 'parked') {
      set('parked', true);
      set('dueIn', keys.dueOf('parked', claimed.id));
      set('dueAt', nextRetryAt.toISOString());
    } else {
      removes.push('parked');
      set('dueIn', keys.dueOf('watched', claimed.id));
      set('dueAt', new Date(nextRetryAt.getTime() + graceSeconds * 1000).toISOString());
    }
  } else {
    set('terminalAt', settlement.at.toISOString());
    if (settlement.terminalReason !== undefined) set('terminalReason', settlement.terminalReason);
    removes.push('nextRetryAt', ...DUE_FIELDS);
  }
  return {
    Key: buildDeliveryKey(claimed),
    UpdateExpression: `SET ${sets.join(', ')} REMOVE ${removes.join(', ')}`,
    ConditionExpression: 'lease.#token = :token AND lease.#until > :nowMs',
    ExpressionAttributeNames: { ...names, '#token': 'token' },
    ExpressionAttributeValues: values,
  };
}

/** Parks an open, unleased, due delivery, whose attempt must wait for its turn at its endpoint. */
export function buildParkUpdate(
  ref: DeliveryRef,
  turn: ParkedTurn,
  resumedAt: Date,
  now: Date,
): DeliveryUpdate {
  return {
    Key: buildDeliveryKey(ref),
    UpdateExpression:
      'SET parked = :true, nextRetryAt = :until, dueIn = :dueIn, dueAt = :until, turn = :turn',
    ConditionExpression: `${IS_OPEN} AND ${IS_UNLEASED} AND ${IS_DUE}`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...buildUnleasedValues(now),
      ':now': now.toISOString(),
      ':true': true,
      ':until': resumedAt.toISOString(),
      ':dueIn': keys.dueOf('parked', ref.id),
      ':turn': turn,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** Ends a delivery whose last attempt was started and never settled. */
export function buildExhaustUpdate(
  ref: DeliveryRef,
  lastError: string,
  maxAttempts: number,
  now: Date,
): DeliveryUpdate {
  return {
    Key: buildDeliveryKey(ref),
    UpdateExpression: `SET #status = :exhausted, terminalAt = :now, terminalReason = :reason, lastError = :lastError REMOVE ${ENDED_FIELDS}`,
    ConditionExpression: `${IS_OPEN} AND ${IS_UNLEASED} AND attempts >= :max`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...buildUnleasedValues(now),
      ':exhausted': 'exhausted',
      ':now': now.toISOString(),
      ':reason': 'max_attempts',
      ':lastError': lastError,
      ':max': maxAttempts,
    },
  };
}

/** Ends an open, unleased delivery without an attempt. */
export function buildSkipUpdate(ref: DeliveryRef, reason: SkipReason, now: Date): DeliveryUpdate {
  return {
    Key: buildDeliveryKey(ref),
    UpdateExpression: `SET #status = :skipped, terminalAt = :now, terminalReason = :reason REMOVE ${ENDED_FIELDS}`,
    ConditionExpression: `${IS_OPEN} AND ${IS_UNLEASED}`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...buildUnleasedValues(now),
      ':skipped': 'skipped',
      ':now': now.toISOString(),
      ':reason': reason,
    },
  };
}

function buildExpireUpdate(entry: DueEntry, now: Date): DeliveryUpdate {
  const update = buildSkipUpdate(entry.message, 'expired', now);
  return {
    ...update,
    ConditionExpression: `${update.ConditionExpression} AND ${IS_UNMOVED}`,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...buildPlaceValues(entry) },
  };
}

function buildWatchUpdate(ref: DeliveryRef, dueAt: Date): DeliveryUpdate {
  return {
    Key: buildDeliveryKey(ref),
    UpdateExpression: 'SET dueIn = :dueIn, dueAt = :dueAt',
    ConditionExpression: `${IS_OPEN} AND attribute_not_exists(dueIn)`,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':pending': PENDING,
      ':retrying': RETRYING,
      ':dueIn': keys.dueOf('watched', ref.id),
      ':dueAt': dueAt.toISOString(),
    },
  };
}

function buildPostponeUpdate(entry: DueEntry, until: Date, reason: PostponeReason): DeliveryUpdate {
  const { message: deliveryMessage } = entry;
  const [set, removed] = reason === 'deferred' ? [', isDeferred = :true', ''] : ['', ', isDeferred'];
  return {
    Key: buildDeliveryKey(deliveryMessage),
    UpdateExpression: `SET dueIn = :watched, dueAt = :until${set} REMOVE parked${removed}`,
    ConditionExpression: IS_UNMOVED,
    ExpressionAttributeValues: {
      ...buildPlaceValues(entry),
      ':watched': keys.dueOf('watched', deliveryMessage.id),
      ':until': until.toISOString(),
      ...(reason === 'deferred' ? { ':true': true } : {}),
    },
  };
}

/** DynamoDB key of a page's last row, to continue from. */
export type Position = Record<string, unknown>;

/** Ten batches of a queue; small enough that a run can end between two pages. */
const PAGE = 100;

/** Sparse index of deliveries for the reconciler: its cost grows with its entries, not with history. */
export function dueIndex(deliveries: Table) {
  return {
    /** Adds an open delivery whose message counts as lost from `dueAt`, unless it has an entry. */
    async watch(ref: DeliveryRef, dueAt: Date): Promise<void> {
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
      return (await update(deliveries, buildExpireUpdate(entry, now))) ? 'done' : 'refused';
    },

    /**
     * Entries of a shard due by `until`, earliest first. Eventually consistent, like every index.
     * @param after end of the previous page
     */
    async find(
      state: DueState,
      shard: number,
      until: Date,
      after?: Position,
    ): Promise<{ entries: DueEntry[]; unreadable: UnreadableRow[]; next?: Position }> {
      const { Items = [], LastEvaluatedKey } = await deliveries.client.send(
        new QueryCommand({
          TableName: deliveries.name,
          IndexName: DUE_INDEX,
          KeyConditionExpression: 'dueIn = :dueIn AND dueAt <= :until',
          ExpressionAttributeValues: { ':dueIn': keys.due(state, shard), ':until': until.toISOString() },
          Limit: PAGE,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      const found = parseReadable(Items, (row) => ({
        message: DeliveryMessage.parse({ ...row, id: row.sk }),
        state,
        dueAt: String(row.dueAt),
        ...(row.isDeferred === true ? { isDeferred: true as const } : {}),
      }));
      return { ...found, ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }) };
    },
  };
}
