import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { MiddlewareObj } from '@middy/core';
import middy from '@middy/core';
import type {
  DynamoDBBatchResponse,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from 'aws-lambda';
import * as z from 'zod/mini';
import { BusEvent } from '../../domain/bus.ts';
import { DeadLetter } from '../../domain/events.ts';
import { InProgressError } from '../../domain/problem.ts';
import { summarizeError } from '../failure-fields.ts';
import type { Log } from '../log-codes.ts';
import { type Logging, logger } from '../logger.ts';
import {
  ABANDONED_ENTRIES,
  type BusWorkerName,
  FAILED_INVOCATIONS,
  LEFT_IN_QUEUE,
  UNREADABLE_MESSAGES,
} from '../metric-names.ts';
import { count, publishMetrics } from '../metrics.ts';

/**
 * What a worker threw, as far as it may be told: Lambda writes what a handler throws into the log, message
 * and all.
 */
export class InvocationFailed extends Error {
  override name = 'InvocationFailed';
}

/**
 * What every worker's invocation has around it: its lines name it, its metrics are written when it ends, and
 * what it throws is told by the log and goes on without its text.
 */
export const invocation = ({ log, begin }: Logging = logger): MiddlewareObj => ({
  before: ({ context }) => begin(context),
  after: () => publishMetrics(),
  onError: (request) => {
    log('INVOCATION_FAILED', { error: request.error });
    count(FAILED_INVOCATIONS);
    publishMetrics();
    request.error = new InvocationFailed(summarizeError(request.error));
  },
});

type Image = Record<string, AttributeValue>;

/**
 * Lambda handler of a reader of the outbox's stream. What failed is reported, and the batch is tried again
 * from there on.
 * @param read what an inserted row has for the reader; undefined when it is for others; throws when it is no
 * entry of the outbox
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

/**
 * Lambda handler of a function that takes the dead letters of the outbox's stream. A letter that fails stays
 * in the queue.
 * @param handle handles a letter and returns the number of entries that it gave up
 */
export const deadLetterWorker = (handle: (letter: DeadLetter) => Promise<number>) =>
  middy<SQSEvent, SQSBatchResponse>()
    .use(invocation())
    .handler(async ({ Records }: SQSEvent) => {
      const kept = [];
      for (const { body, messageId } of Records) {
        const letter = parse(body, messageId);
        if (letter === undefined) continue;
        try {
          const abandoned = await handle(letter);
          count(ABANDONED_ENTRIES, abandoned);
        } catch (error) {
          logger.log('OUTBOX_LETTER_STAYS', { messageId, error });
          kept.push({ itemIdentifier: messageId });
        }
      }
      return { batchItemFailures: kept };
    });

/** What a letter says. One that nobody understands would come back for two weeks: it is told and dropped. */
function parse(body: string, messageId: string): DeadLetter | undefined {
  try {
    return DeadLetter.parse(JSON.parse(body));
  } catch (error) {
    logger.log('OUTBOX_LETTER_UNREADABLE', { messageId, bytes: Buffer.byteLength(body), error });
    count(ABANDONED_ENTRIES);
    return undefined;
  }
}

/**
 * Reads rows of the outbox as `read` does, and gives up loudly those that nobody can read.
 * @param read what a row is for this reader; throws when it should be something and is not readable
 */
export const parseOrAbandon =
  <T>(read: (row: unknown) => T | undefined) =>
  (row: Record<string, unknown>): T | undefined => {
    try {
      return read(row);
    } catch (error) {
      logger.log('OUTBOX_ENTRY_UNREADABLE', { id: String(row.pk), error });
      count(ABANDONED_ENTRIES);
      return undefined;
    }
  };

/** What a rule sends to a queue: EventBridge's envelope around what was put on the bus. */
const Message = z.object({ detail: BusEvent });

/**
 * An event that has to come again: because dealing with it failed, or because it waits for what somebody else
 * has in hand.
 */
export interface RetryRequest {
  event: BusEvent;
  why: 'failed' | 'waits';
  /** After how many seconds; the queue's own time when absent. */
  inSeconds?: number | undefined;
}

/** Hides a received message for so many seconds. */
export type HideMessage = (receiptHandle: string, seconds: number) => Promise<void>;

/**
 * Lambda handler of a worker that takes events of the bus from its queue. What fails stays in the queue,
 * comes again, and ends in the dead-letter queue; so does a message that nobody can read, because nothing is
 * dropped unread. Lambda counts no such batch as failed, so that it is counted here.
 * @param handle does what a batch asks for and returns what has to come again; what it throws fails the whole
 * batch
 * @param hide of the worker's queue, where its events name their own time; a message that it fails for has
 * the queue's
 */
export const busWorker = (
  worker: BusWorkerName,
  handle: (
    events: readonly BusEvent[],
    receivesOf: (event: BusEvent) => number,
  ) => Promise<readonly RetryRequest[]>,
  hide?: HideMessage,
) =>
  middy<SQSEvent, SQSBatchResponse>()
    .use(invocation())
    .handler(async ({ Records }: SQSEvent) => {
      const failed = new Set<string>();
      const messages = new Map<BusEvent, SQSRecord>();
      for (const record of Records) {
        const { body, messageId } = record;
        try {
          messages.set(Message.parse(JSON.parse(body)).detail, record);
        } catch (error) {
          logger.log('BUS_EVENT_UNREADABLE', { messageId, error });
          count(UNREADABLE_MESSAGES);
          failed.add(messageId);
        }
      }
      const again = await handle([...messages.keys()], (event) =>
        Number(messages.get(event)?.attributes.ApproximateReceiveCount ?? 1),
      );
      for (const { event } of again) failed.add(messages.get(event)?.messageId ?? '');
      await Promise.all(
        again.map(async ({ event, inSeconds }) => {
          const receiptHandle = messages.get(event)?.receiptHandle;
          if (inSeconds === undefined || receiptHandle === undefined) return;
          await hide?.(receiptHandle, inSeconds).catch((error: unknown) =>
            logger.log('MESSAGE_NOT_HIDDEN', { eventId: event.id, error }),
          );
        }),
      );
      if (again.some(({ why }) => why === 'failed')) count(LEFT_IN_QUEUE[worker]);
      return { batchItemFailures: [...failed].map((itemIdentifier) => ({ itemIdentifier })) };
    });

/**
 * Deals with the events of a batch one by one, all at once. @param log told of each that has to come again
 */
export const processEach =
  (handle: (event: BusEvent, receives: number) => Promise<void>, log: Log) =>
  async (
    events: readonly BusEvent[],
    receivesOf: (event: BusEvent) => number = () => 1,
  ): Promise<RetryRequest[]> => {
    const outcomes = await Promise.allSettled(events.map((event) => handle(event, receivesOf(event))));
    return events.flatMap((event, index) => {
      const outcome = outcomes[index];
      if (outcome?.status !== 'rejected') return [];
      const error: unknown = outcome.reason;
      const why = error instanceof InProgressError ? 'waits' : 'failed';
      log(why === 'waits' ? 'BUS_EVENT_WAITS' : 'BUS_EVENT_FAILED', {
        eventId: event.id,
        type: event.type,
        traceId: event.traceId,
        error,
      });
      return [{ event, why, inSeconds: error instanceof InProgressError ? error.againInSeconds : undefined }];
    });
  };
