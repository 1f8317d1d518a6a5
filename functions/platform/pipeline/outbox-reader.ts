import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import middy from '@middy/core';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { logger } from '../logger.ts';
import { ABANDONED_ENTRIES } from '../metric-names.ts';
import { count } from '../metrics.ts';
import { invocation } from './worker.ts';

type Image = Record<string, AttributeValue>;

/**
 * Lambda handler of a reader of the outbox's stream. What failed is reported, and the batch is tried again from there on.
 * @param read what an inserted row has for the reader; undefined when it is for others; throws when it is no entry of the outbox
 * @param handle does what a batch asks for and returns what has to be tried again
 */
export const outboxReader = <T extends object>(
  read: (image: Image) => T | undefined,
  handle: (batch: readonly T[]) => Promise<readonly T[]>,
) =>
  middy<DynamoDBStreamEvent, DynamoDBBatchResponse>()
    .use(invocation())
    .handler(async ({ Records }: DynamoDBStreamEvent) => {
      const sequences = new Map<T, string>();
      for (const { dynamodb } of Records) {
        const sequence = dynamodb?.SequenceNumber ?? '';
        try {
          // The types of Lambda's events and of the SDK name the same shape differently.
          const entry = read(dynamodb?.NewImage as Image);
          if (entry) sequences.set(entry, sequence);
        } catch (error) {
          // Repeating it would hold up what comes after it in its shard, and change nothing.
          logger.log('STREAM_RECORD_UNREADABLE', { sequence, error });
          count(ABANDONED_ENTRIES);
        }
      }
      const failed = (await handle([...sequences.keys()])).map((entry) => sequences.get(entry) ?? '');
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
    });
