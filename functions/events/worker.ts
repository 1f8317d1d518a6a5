import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { MiddlewareObj } from '@middy/core';
import middy from '@middy/core';
import type {
  Context,
  DynamoDBBatchResponse,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from 'aws-lambda';
import * as z from 'zod/mini';
import type { Failure } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import { type Logging, logger, summarizeError } from '../aws/logger.ts';
import {
  ABANDONED_ENTRIES,
  type BusWorkerName,
  count,
  FAILED_INVOCATIONS,
  LEFT_IN_QUEUE,
  publishMetrics,
  UNREADABLE_MESSAGES,
} from '../aws/metrics.ts';
import { InProgressError } from '../http/problem.ts';
import { BusEvent } from './bus.ts';
import { DeadLetter } from './events.ts';

/** Replaces a worker's error: Lambda logs the message of a thrown error. */
export class InvocationFailed extends Error {
  override name = 'InvocationFailed';
}

/**
 * Middleware of every worker: starts its log context, publishes metrics, logs an error and rethrows it
 * without its message.
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

/** Reserved for the step in progress: a run starts none when less time is left. Milliseconds. */
const STEP_MS = 10_000;

/**
 * Handler of a scheduled worker, which ends before its function's timeout. The next run continues.
 * @param run called with whether there is time to continue
 */
export const scheduledWorker = <R>(run: (hasTime: () => boolean) => Promise<R>) =>
  middy<unknown, R>()
    .use(invocation())
    .handler((_event: unknown, context: Context) => run(() => context.getRemainingTimeInMillis() > STEP_MS));

type Image = Record<string, AttributeValue>;

/**
 * Handler of a reader of the outbox's stream. Failed entries go to a queue of their own, so that the others
 * are processed once and their shard waits for none. The stream repeats only those that the queue did not
 * take, and what follows them.
 * @param read parses an inserted row; undefined when it is for another reader; throws when it is not
 * an outbox entry
 * @param handle returns the entries to retry
 * @param handOver sends entries to their queue
 */
export const outboxReader = <T extends object>(
  read: (image: Image) => T | undefined,
  handle: (batch: readonly T[]) => Promise<readonly T[]>,
  handOver: (failed: readonly T[]) => Promise<readonly Failure<T>[]>,
) =>
  middy<DynamoDBStreamEvent, DynamoDBBatchResponse>()
    .use(invocation())
    .handler(async ({ Records }: DynamoDBStreamEvent) => {
      const sequences = new Map<T, string>();
      for (const { dynamodb } of Records) {
        const sequence = dynamodb?.SequenceNumber ?? '';
        try {
          // Lambda's events and the SDK have separate types for one shape.
          const entry = read(dynamodb?.NewImage as Image);
          if (entry) sequences.set(entry, sequence);
        } catch (error) {
          // A retry would fail again and block the shard.
          logger.log('STREAM_RECORD_UNREADABLE', { sequence, error });
          count(ABANDONED_ENTRIES);
        }
      }
      const refused = await handOver(await handle([...sequences.keys()]));
      const [first] = refused;
      if (first !== undefined)
        logger.log('ENTRIES_NOT_HANDED_OVER', { entries: refused.length, error: first.error });
      const repeated = new Set(refused.map(({ item }) => item));
      // In the order of the records, because the order in which failures occur is left to chance.
      const batchItemFailures = [...sequences]
        .filter(([entry]) => repeated.has(entry))
        .map(([, itemIdentifier]) => ({ itemIdentifier }));
      return { batchItemFailures };
    });

/**
 * Parses rows of the outbox; reports and counts unreadable ones.
 * @param read throws when a row is unreadable
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

/**
 * Handler of the dead letters of the outbox's stream. A failed letter stays in the queue.
 * @param handle returns the number of abandoned entries, and when to retry the letter if it is not done
 */
export const deadLetterWorker = (
  handle: (letter: DeadLetter) => Promise<{ abandoned: number; retryInSeconds?: number }>,
  hide: HideMessage,
) =>
  middy<SQSEvent, SQSBatchResponse>()
    .use(invocation())
    .handler(async ({ Records }: SQSEvent) => {
      const kept = await Promise.all(
        Records.map(async ({ body, messageId, receiptHandle }) => {
          const letter = parseDeadLetter(body, messageId);
          if (letter === undefined) return [];
          try {
            const { abandoned, retryInSeconds } = await handle(letter);
            count(ABANDONED_ENTRIES, abandoned);
            if (retryInSeconds === undefined) return [];
            await hide(receiptHandle, retryInSeconds);
          } catch (error) {
            logger.log('OUTBOX_LETTER_STAYS', { messageId, error });
          }
          return [{ itemIdentifier: messageId }];
        }),
      );
      return { batchItemFailures: kept.flat() };
    });

/** An unparsable letter would return for two weeks: it is reported and dropped. */
function parseDeadLetter(body: string, messageId: string): DeadLetter | undefined {
  try {
    return DeadLetter.parse(JSON.parse(body));
  } catch (error) {
    logger.log('OUTBOX_LETTER_UNREADABLE', { messageId, bytes: Buffer.byteLength(body), error });
    count(ABANDONED_ENTRIES);
    return undefined;
  }
}

/** EventBridge's envelope of a bus event. */
const Message = z.object({ detail: BusEvent });

/** An event to retry: it failed, or waits for another worker. */
export interface RetryRequest {
  event: BusEvent;
  why: 'failed' | 'waits';
  /** Seconds until the retry; the queue's visibility timeout when absent. */
  inSeconds?: number | undefined;
}

/** Sets the visibility timeout of a received message, in seconds. */
export type HideMessage = (receiptHandle: string, seconds: number) => Promise<void>;

/**
 * Handler of a worker that receives bus events from its queue. Failed and unreadable messages are retried and
 * end in the dead-letter queue. Lambda does not count such batches as failed, so they are counted here.
 * @param handle returns the events to retry; an error fails the whole batch
 * @param hide sets the visibility timeout of events with a retry time; when it fails, the queue's applies
 */
export const busWorker = (
  worker: BusWorkerName,
  handle: (
    events: readonly BusEvent[],
    getReceives: (event: BusEvent) => number,
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
      const retries = await handle([...messages.keys()], (event) =>
        Number(messages.get(event)?.attributes.ApproximateReceiveCount ?? 1),
      );
      for (const { event } of retries) failed.add(messages.get(event)?.messageId ?? '');
      await Promise.all(
        retries.map(async ({ event, inSeconds }) => {
          const receiptHandle = messages.get(event)?.receiptHandle;
          if (inSeconds === undefined || receiptHandle === undefined) return;
          await hide?.(receiptHandle, inSeconds).catch((error: unknown) =>
            logger.log('MESSAGE_NOT_HIDDEN', { eventId: event.id, error }),
          );
        }),
      );
      if (retries.some(({ why }) => why === 'failed')) count(LEFT_IN_QUEUE[worker]);
      const batchItemFailures = Records.filter(({ messageId }) => failed.has(messageId)).map(
        ({ messageId }) => ({ itemIdentifier: messageId }),
      );
      return { batchItemFailures };
    });

/**
 * Processes the events of a batch concurrently, each on its own.
 * @param log called for each event to retry
 */
export const processEach =
  (handle: (event: BusEvent, receives: number) => Promise<void>, log: Log) =>
  async (
    events: readonly BusEvent[],
    getReceives: (event: BusEvent) => number = () => 1,
  ): Promise<RetryRequest[]> => {
    const outcomes = await Promise.allSettled(events.map((event) => handle(event, getReceives(event))));
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
      return [
        { event, why, inSeconds: error instanceof InProgressError ? error.retryAfterSeconds : undefined },
      ];
    });
  };
