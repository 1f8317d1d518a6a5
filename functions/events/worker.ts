import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import type { Log } from '../aws/log-codes.ts';
import { invocation, logger } from '../aws/logger.ts';
import { type BusWorkerName, count, LEFT_IN_QUEUE, UNREADABLE_MESSAGES } from '../aws/metrics.ts';
import { InProgressError } from '../http/problem.ts';
import { BusEvent } from './bus.ts';

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

/**
 * Handler of a queue whose messages are processed each on its own, all of a batch at once.
 * @param handle returns whether the message stays in the queue, until its visibility timeout
 */
export const queueWorker = (handle: (record: SQSRecord) => Promise<'done' | 'stays'>) =>
  middy<SQSEvent, SQSBatchResponse>()
    .use(invocation())
    .handler(async ({ Records }: SQSEvent) => {
      const ends = await Promise.all(Records.map(handle));
      const staying = Records.filter((_, index) => ends[index] === 'stays');
      return { batchItemFailures: staying.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });

/** EventBridge's envelope of a bus event. */
const Message = z.object({ detail: BusEvent });

/** An event to retry: it failed, or waits for another worker. */
interface RetryRequest {
  event: BusEvent;
  why: 'failed' | 'waits';
  /** Seconds until the retry; the queue's visibility timeout when absent. */
  inSeconds?: number | undefined;
}

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
  hide?: (receiptHandle: string, seconds: number) => Promise<void>,
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
      await Promise.all(
        retries.map(async ({ event, inSeconds }) => {
          const { messageId = '', receiptHandle = '' } = messages.get(event) ?? {};
          failed.add(messageId);
          if (inSeconds === undefined) return;
          await hide?.(receiptHandle, inSeconds).catch((error: unknown) =>
            logger.log('MESSAGE_NOT_HIDDEN', { eventId: event.id, error }),
          );
        }),
      );
      if (retries.some(({ why }) => why === 'failed')) count(LEFT_IN_QUEUE[worker]);
      const staying = Records.filter(({ messageId }) => failed.has(messageId));
      return { batchItemFailures: staying.map(({ messageId }) => ({ itemIdentifier: messageId })) };
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
    return events.flatMap((event, index): RetryRequest[] => {
      const outcome = outcomes[index];
      if (outcome?.status !== 'rejected') return [];
      const error: unknown = outcome.reason;
      const fields = { eventId: event.id, type: event.type, traceId: event.traceId, error };
      if (!(error instanceof InProgressError)) {
        log('BUS_EVENT_FAILED', fields);
        return [{ event, why: 'failed' }];
      }
      log('BUS_EVENT_WAITS', fields);
      return [{ event, why: 'waits', inSeconds: error.retryAfterSeconds }];
    });
  };
