import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';

type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Reasons of refused changes, one per write condition. */
export type Refusal =
  | 'idempotency-key-used'
  | 'api-key-missing'
  | 'organization-changed'
  | 'endpoint-limit'
  | 'endpoint-host-limit'
  | 'endpoint-missing'
  | 'endpoint-changed'
  | 'channel-limit'
  | 'channel-missing'
  | 'conversation-changed'
  | 'source-limit'
  | 'source-missing'
  | 'source-synced'
  | 'lease-lost'
  | 'delivery-changed'
  | 'redelivery-running'
  | 'redelivery-over'
  | 'sandbox-exists'
  | 'generation-over'
  | 'mail-decided'
  | 'mail-budget'
  | 'mail-ceiling'
  | 'exists';

/** One write of a transaction. */
export interface Change {
  readonly write: Write;
  /** Reason when the write's condition fails. */
  readonly refusal: Refusal;
}

/** Adds an item under an unused key. */
export const buildAddition = (table: { readonly name: string }, item: Record<string, unknown>): Change => ({
  refusal: 'exists',
  write: { Put: { TableName: table.name, Item: item, ConditionExpression: 'attribute_not_exists(pk)' } },
});

export type CommitResult = { kind: 'committed' } | { kind: 'refused'; refusal: Refusal };

/** All attempts of the transaction conflicted with other writers. Retry later. */
export class Contended extends Error {
  override name = 'Contended';
}

export type Commit = (changes: readonly Change[]) => Promise<CommitResult>;

/**
 * Commits all changes or none. On a conflict with another transaction it retries after a random wait, with
 * the same request token, so that changes are not applied twice.
 * @throws Contended after six conflicts
 */
export function committer(
  client: DynamoDBDocumentClient,
  wait: (attempt: number) => Promise<unknown> = backoff,
): Commit {
  return async (changes) => {
    const ClientRequestToken = randomUUID();
    const TransactItems = changes.map((change) => change.write);
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      try {
        await client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }));
        return { kind: 'committed' };
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw error;
        const reasons = error.CancellationReasons ?? [];
        // A failed condition is final, even if another write conflicted.
        const failed = reasons.findIndex((reason) => reason.Code === 'ConditionalCheckFailed');
        const change = changes[failed];
        if (change !== undefined) return { kind: 'refused', refusal: change.refusal };
        if (!reasons.some((reason) => RETRYABLE.has(reason.Code ?? ''))) throw error;
      }
      if (attempt < MAX_TRIES) await wait(attempt);
    }
    throw new Contended(`a transaction of ${changes.length} writes collided with others ${MAX_TRIES} times`);
  };
}

/**
 * Retries a write of one item after a random wait while transactions conflict with it.
 * @throws TransactionConflictException after six conflicts
 */
export async function retryContention<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < MAX_TRIES; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof TransactionConflictException)) throw error;
      await backoff(attempt);
    }
  }
  return write();
}

const MAX_TRIES = 6;
const RETRYABLE = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** Full jitter: a random part of 25 ms, 50 ms … 400 ms. */
const backoff = (attempt: number): Promise<unknown> => sleep(Math.random() * 25 * 2 ** (attempt - 1));

/** A row that counts items of one kind and enforces their limit. */
export interface Counter {
  key: Key;
  /** Attribute with the number. */
  things: string;
  limit: number;
  /** Refusal at the limit, and at zero. */
  refusals: { full: Refusal; missing: Refusal };
  /** Further attributes of the row, such as the mark of a sandbox. */
  marks?: Readonly<Record<string, string>>;
}

/** Increases a count, in the transaction that adds the item. */
export const increaseCount = (
  service: Pick<Table, 'name'>,
  { key, things, limit, refusals, marks = {} }: Counter,
): Change => {
  const marked = Object.entries(marks);
  const set = marked.length === 0 ? '' : ` SET ${marked.map(([name]) => `${name} = :${name}`).join(', ')}`;
  return {
    refusal: refusals.full,
    write: {
      Update: {
        TableName: service.name,
        Key: key,
        UpdateExpression: `ADD ${things} :one${set}`,
        ConditionExpression: `attribute_not_exists(${things}) OR ${things} < :limit`,
        ExpressionAttributeValues: {
          ':one': 1,
          ':limit': limit,
          ...Object.fromEntries(marked.map(([name, value]) => [`:${name}`, value])),
        },
      },
    },
  };
};

/** Decreases a count, in the transaction that removes the item. */
export const decreaseCount = (
  service: Pick<Table, 'name'>,
  { key, things, refusals }: Pick<Counter, 'key' | 'things' | 'refusals'>,
): Change => ({
  refusal: refusals.missing,
  write: {
    Update: {
      TableName: service.name,
      Key: key,
      UpdateExpression: `ADD ${things} :minusOne`,
      ConditionExpression: `${things} > :zero`,
      ExpressionAttributeValues: { ':minusOne': -1, ':zero': 0 },
    },
  },
});

/**
 * Decreases a count, and deletes its row at zero.
 * @param left the count as read
 */
export const decreaseOrDeleteCount = (
  service: Pick<Table, 'name'>,
  counter: Pick<Counter, 'key' | 'things' | 'refusals'>,
  left: number,
): Change =>
  left > 1
    ? decreaseCount(service, counter)
    : {
        refusal: counter.refusals.missing,
        write: {
          Delete: {
            TableName: service.name,
            Key: counter.key,
            ConditionExpression: `${counter.things} = :one`,
            ExpressionAttributeValues: { ':one': 1 },
          },
        },
      };

/**
 * Deletes a row that must exist, or meet a condition; otherwise refused with the counter's `missing` reason.
 */
export const buildRemoval = (
  service: Pick<Table, 'name'>,
  key: Key,
  { missing }: Pick<Counter['refusals'], 'missing'>,
  {
    condition,
    names = {},
    values = {},
  }: { condition: string; names?: Record<string, string>; values?: Record<string, unknown> } = {
    condition: 'attribute_exists(pk)',
  },
): Change => ({
  refusal: missing,
  write: {
    Delete: {
      TableName: service.name,
      Key: key,
      ConditionExpression: condition,
      // DynamoDB refuses empty maps.
      ...(Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names }),
      ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
    },
  },
});
