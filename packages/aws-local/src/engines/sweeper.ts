import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import type { DynoxideDatabase, ExpiringTable, Key, ReadUpTo } from './dynoxide-database.ts';

/** DynamoDB keeps stream records for a day. */
const STREAM_RETENTION_MS = 24 * 60 * 60 * 1_000;

const BATCH = 100;
/** DynamoDB deletes expired items within days. */
const INTERVAL_MS = 60_000;

/**
 * Deletes expired items as DynamoDB does: through the API, so that indexes and streams follow, and only if
 * the item is still expired. Returns how many it deleted.
 */
export async function sweepExpired(
  database: DynoxideDatabase,
  client: DynamoDBClient,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (const table of database.expiringTables()) {
    let step: number;
    do {
      const keys = signal?.aborted ? [] : database.expired(table, now, BATCH);
      step = await deleteExpired(database, client, table, keys, now);
      deleted += step;
    } while (step > 0);
  }
  return deleted;
}

async function deleteExpired(
  database: DynoxideDatabase,
  client: DynamoDBClient,
  table: ExpiringTable,
  keys: readonly Key[],
  now: Date,
): Promise<number> {
  if (keys.length === 0) return 0;
  database.expectExpiry(table, keys);
  try {
    let deleted = 0;
    for (const key of keys) deleted += (await deleteIfExpired(client, table, key, now)) ? 1 : 0;
    return deleted;
  } finally {
    database.forgetExpiry();
  }
}

async function deleteIfExpired(
  client: DynamoDBClient,
  table: ExpiringTable,
  key: Key,
  now: Date,
): Promise<boolean> {
  try {
    await client.send(
      new DeleteItemCommand({
        TableName: table.name,
        Key: key,
        ConditionExpression: '#expiry < :now',
        ExpressionAttributeNames: { '#expiry': table.attribute },
        ExpressionAttributeValues: { ':now': { N: String(Math.floor(now.getTime() / 1_000)) } },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/**
 * Deletes stream records past the retention that all readers have read, in short steps that let other work
 * run.
 */
export async function trimStreams(
  database: DynoxideDatabase,
  now: Date,
  { readUpTo, signal }: { readUpTo?: ReadUpTo; signal?: AbortSignal } = {},
): Promise<number> {
  const horizon = new Date(now.getTime() - STREAM_RETENTION_MS);
  let trimmed = 0;
  while (!signal?.aborted) {
    const step = database.trim(horizon, readUpTo);
    if (step === 0) break;
    trimmed += step;
    await sleep(10);
  }
  return trimmed;
}

/**
 * Sweeps and trims the embedded DynamoDB until stopped. Other engines do both themselves.
 * @param onError called when a round fails; the next one retries
 */
export function startSweeper(options: {
  database: DynoxideDatabase;
  client: DynamoDBClient;
  readUpTo?: ReadUpTo;
  onError: (error: unknown) => void;
  now?: () => Date;
  intervalMs?: number;
}): { stop(): Promise<void> } {
  const { database, client, readUpTo, onError, now = () => new Date(), intervalMs = INTERVAL_MS } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  const rounds = async () => {
    while (!signal.aborted) {
      try {
        await sweepExpired(database, client, now(), signal);
        await trimStreams(database, now(), { readUpTo, signal });
      } catch (error) {
        if (!signal.aborted) onError(error);
      }
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const ended = rounds();
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
