import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { BusEvent } from '../../domain/bus.ts';
import type { Log } from '../log-codes.ts';
import { logger } from '../logger.ts';
import { UNREADABLE_MESSAGES } from '../metric-names.ts';
import { count } from '../metrics.ts';
import { invocation } from './worker.ts';

/** What a rule sends to a queue: EventBridge's envelope around what was put on the bus. */
const Message = z.object({ detail: BusEvent });

/**
 * Lambda handler of a worker that takes events of the bus from its queue. What fails stays in the queue, comes again, and ends in the dead-letter
 * queue; so does a message that nobody can read, because nothing is dropped unread.
 * @param deal does what a batch asks for and returns the events that have to come again; what it throws fails the whole batch
 */
export const busWorker = (deal: (events: readonly BusEvent[]) => Promise<readonly BusEvent[]>) =>
  middy<SQSEvent, SQSBatchResponse>()
    .use(invocation())
    .handler(async ({ Records }: SQSEvent) => {
      const failed = new Set<string>();
      const messages = new Map<BusEvent, string>();
      for (const { body, messageId } of Records) {
        try {
          messages.set(Message.parse(JSON.parse(body)).detail, messageId);
        } catch (error) {
          logger.log('BUS_EVENT_UNREADABLE', { messageId, error });
          count(UNREADABLE_MESSAGES);
          failed.add(messageId);
        }
      }
      for (const event of await deal([...messages.keys()])) failed.add(messages.get(event) ?? '');
      return { batchItemFailures: [...failed].map((itemIdentifier) => ({ itemIdentifier })) };
    });

/** Deals with the events of a batch one by one, all at once. @param log told of each that fails */
export const oneByOne =
  (deal: (event: BusEvent) => Promise<void>, log: Log) =>
  async (events: readonly BusEvent[]): Promise<BusEvent[]> => {
    const outcomes = await Promise.allSettled(events.map((event) => deal(event)));
    return events.filter((event, index) => {
      const outcome = outcomes[index];
      if (outcome?.status !== 'rejected') return false;
      log('BUS_EVENT_FAILED', {
        eventId: event.id,
        type: event.type,
        traceId: event.traceId,
        error: outcome.reason,
      });
      return true;
    });
  };
