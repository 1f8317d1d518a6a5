import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { DeadLetter } from '../../domain/dead-letter.ts';
import { logger } from '../logger.ts';
import { ABANDONED_ENTRIES } from '../metric-names.ts';
import { countOne, gauge } from '../metrics.ts';
import { logContext } from './worker.ts';

/**
 * Lambda handler of a function that takes the dead letters of the outbox's stream. A letter that fails stays in the queue.
 * @param deal deals with a letter and returns the number of entries that it gave up
 */
export const deadLetterWorker = (deal: (letter: DeadLetter) => Promise<number>) =>
  middy<SQSEvent, SQSBatchResponse>()
    .use(logContext(logger))
    .handler(async ({ Records }: SQSEvent) => {
      const kept = [];
      for (const { body, messageId } of Records) {
        const letter = parse(body, messageId);
        if (letter === undefined) continue;
        try {
          const abandoned = await deal(letter);
          if (abandoned > 0) gauge(ABANDONED_ENTRIES, abandoned);
        } catch (error) {
          logger.error('a dead letter of the outbox stays', { messageId, reason: String(error) });
          kept.push({ itemIdentifier: messageId });
        }
      }
      return { batchItemFailures: kept };
    });

/** What a letter says. One that nobody understands would come back for two weeks: it is told in full and dropped. */
function parse(body: string, messageId: string): DeadLetter | undefined {
  try {
    return DeadLetter.parse(JSON.parse(body));
  } catch (error) {
    logger.error('a dead letter of the outbox is not understood and given up', {
      messageId,
      body,
      reason: String(error),
    });
    countOne(ABANDONED_ENTRIES);
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
      logger.error('an entry of the outbox cannot be read and is given up', {
        id: row.pk,
        reason: String(error),
      });
      countOne(ABANDONED_ENTRIES);
      return undefined;
    }
  };
