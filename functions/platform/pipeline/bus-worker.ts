import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import { BusEvent } from '../../domain/bus.ts';
import { UnderWay } from '../../domain/problem.ts';
import type { Log } from '../log-codes.ts';
import { logger } from '../logger.ts';
import { type BusWorkerName, LEFT_IN_QUEUE, UNREADABLE_MESSAGES } from '../metric-names.ts';
import { count } from '../metrics.ts';
import { invocation } from './worker.ts';

/** What a rule sends to a queue: EventBridge's envelope around what was put on the bus. */
const Message = z.object({ detail: BusEvent });

/** An event that has to come again: because dealing with it failed, or because it waits for what somebody else has in hand. */
export interface Again {
  event: BusEvent;
  why: 'failed' | 'waits';
  /** After how many seconds; the queue's own time when absent. */
  inSeconds?: number | undefined;
}

/** Hides a received message for so many seconds. */
export type Hide = (receiptHandle: string, seconds: number) => Promise<void>;

/**
 * Lambda handler of a worker that takes events of the bus from its queue. What fails stays in the queue, comes again, and ends in the dead-letter
 * queue; so does a message that nobody can read, because nothing is dropped unread. Lambda counts no such batch as failed, so that it is counted here.
 * @param handle does what a batch asks for and returns what has to come again; what it throws fails the whole batch
 * @param hide of the worker's queue, where its events name their own time; a message that it fails for has
 * the queue's
 */
export const busWorker = (
  worker: BusWorkerName,
  handle: (events: readonly BusEvent[], receivesOf: (event: BusEvent) => number) => Promise<readonly Again[]>,
  hide?: Hide,
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

/** Deals with the events of a batch one by one, all at once. @param log told of each that has to come again */
export const oneByOne =
  (handle: (event: BusEvent, receives: number) => Promise<void>, log: Log) =>
  async (
    events: readonly BusEvent[],
    receivesOf: (event: BusEvent) => number = () => 1,
  ): Promise<Again[]> => {
    const outcomes = await Promise.allSettled(events.map((event) => handle(event, receivesOf(event))));
    return events.flatMap((event, index) => {
      const outcome = outcomes[index];
      if (outcome?.status !== 'rejected') return [];
      const error: unknown = outcome.reason;
      const why = error instanceof UnderWay ? 'waits' : 'failed';
      log(why === 'waits' ? 'BUS_EVENT_WAITS' : 'BUS_EVENT_FAILED', {
        eventId: event.id,
        type: event.type,
        traceId: event.traceId,
        error,
      });
      return [{ event, why, inSeconds: error instanceof UnderWay ? error.againInSeconds : undefined }];
    });
  };
