import type { UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import {
  type Claimed,
  type DeliveryRef,
  type Lease,
  OPEN_STATUSES,
  type Settlement,
  type SkipReason,
} from '../domain/delivery.ts';
import { keys } from './keys.ts';

export const deliveryKey = (ref: DeliveryRef) => keys.delivery(ref.webhookId, ref.generation, ref.id);

/** An update of a delivery, without its table. */
export type DeliveryUpdate = Omit<UpdateCommandInput, 'TableName' | 'UpdateExpression'> & {
  UpdateExpression: string;
};

const [PENDING, RETRYING] = OPEN_STATUSES;
const IS_OPEN = '#status IN (:pending, :retrying)';
const IS_UNLEASED = '(attribute_not_exists(lease) OR lease.#until <= :nowMs)';
const IS_DUE = '(attribute_not_exists(nextRetryAt) OR nextRetryAt <= :now)';

const names = { '#status': 'status', '#until': 'until' };
const openAndUnleased = (now: Date) => ({
  ':pending': PENDING,
  ':retrying': RETRYING,
  ':nowMs': now.getTime(),
});

/** Takes an open, unleased, due delivery that has attempts left, and counts the attempt. */
export function claimUpdate(ref: DeliveryRef, lease: Lease, now: Date, maxAttempts: number): DeliveryUpdate {
  return {
    Key: deliveryKey(ref),
    UpdateExpression: 'SET lease = :lease ADD attempts :one',
    ConditionExpression: `${IS_OPEN} AND ${IS_UNLEASED} AND ${IS_DUE} AND attempts < :max`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...openAndUnleased(now),
      ':lease': lease,
      ':one': 1,
      ':now': now.toISOString(),
      ':max': maxAttempts,
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** Records an attempt under the claim's own lease, while it lasts (architecture.md, Promise 2). */
export function settleUpdate(claimed: Claimed, settlement: Settlement): DeliveryUpdate {
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
  if (attempt.error !== undefined) set('lastError', attempt.error);
  if (attempt.status !== undefined) set('lastResponseStatus', attempt.status);
  // The last attempt got no answer, so an earlier answer's status no longer describes it.
  else removes.push('lastResponseStatus');
  if (settlement.kind === 'retrying') {
    set('nextRetryAt', settlement.nextRetryAt.toISOString());
  } else {
    set('terminalAt', settlement.at.toISOString());
    if (settlement.kind === 'exhausted') set('terminalReason', 'max_attempts');
    removes.push('nextRetryAt');
  }
  return {
    Key: deliveryKey(claimed),
    UpdateExpression: `SET ${sets.join(', ')} REMOVE ${removes.join(', ')}`,
    ConditionExpression: 'lease.#token = :token AND lease.#until > :nowMs',
    ExpressionAttributeNames: { ...names, '#token': 'token' },
    ExpressionAttributeValues: values,
  };
}

/** Ends a delivery all of whose attempts were started, the last of them without a settlement. */
export function exhaustUpdate(
  ref: DeliveryRef,
  lastError: string,
  maxAttempts: number,
  now: Date,
): DeliveryUpdate {
  return {
    Key: deliveryKey(ref),
    UpdateExpression:
      'SET #status = :exhausted, terminalAt = :now, terminalReason = :reason, lastError = :lastError REMOVE lease, nextRetryAt',
    ConditionExpression: `${IS_OPEN} AND ${IS_UNLEASED} AND attempts >= :max`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...openAndUnleased(now),
      ':exhausted': 'exhausted',
      ':now': now.toISOString(),
      ':reason': 'max_attempts',
      ':lastError': lastError,
      ':max': maxAttempts,
    },
  };
}

/** Ends an open, unleased delivery without an attempt. */
export function skipUpdate(ref: DeliveryRef, reason: SkipReason, now: Date): DeliveryUpdate {
  return {
    Key: deliveryKey(ref),
    UpdateExpression:
      'SET #status = :skipped, terminalAt = :now, terminalReason = :reason REMOVE lease, nextRetryAt',
    ConditionExpression: `${IS_OPEN} AND ${IS_UNLEASED}`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ...openAndUnleased(now),
      ':skipped': 'skipped',
      ':now': now.toISOString(),
      ':reason': reason,
    },
  };
}
