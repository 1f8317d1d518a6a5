import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { DeadLetter } from '../../domain/dead-letter.ts';
import { logger } from '../logger.ts';
import { ABANDONED_ENTRIES } from '../metric-names.ts';
import { count } from '../metrics.ts';
import { invocation } from './worker.ts';

/**
 * Lambda handler of a function that takes the dead letters of the outbox's stream. A letter that fails stays in the queue.
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
export const orAbandon =
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
