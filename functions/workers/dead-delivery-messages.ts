import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { processDeadDeliveryMessage } from '../engine/dead-letters.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { DEAD_LETTERS } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { invocation } from '../platform/pipeline/worker.ts';
import { parseDeliveryMessage } from '../platform/queues.ts';
import { openTables } from '../platform/tables.ts';
import { dueIndex } from '../store/due-index.ts';

export const DeadDeliveryMessagesEnvironment = z.object({
  DELIVERIES_TABLE: NonEmptyText,
  GRACE_SECONDS: DecimalNumber,
});
export type DeadDeliveryMessagesEnvironment = z.input<typeof DeadDeliveryMessagesEnvironment>;

const environment = readEnvironment(DeadDeliveryMessagesEnvironment);

const handle = processDeadDeliveryMessage(
  {
    due: dueIndex(openTables(environment).deliveries),
    log: logger.log,
    now: () => new Date(),
  },
  { graceSeconds: environment.GRACE_SECONDS },
);

/** Processes the dead letters of the delivery queues. */
export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(invocation())
  .handler(async ({ Records }: SQSEvent) => {
    const kept = await Promise.all(
      Records.map(async ({ body, messageId }) => {
        const deliveryMessage = parseDeliveryMessage(body, messageId);
        if (deliveryMessage === undefined) return [];
        count(DEAD_LETTERS);
        try {
          await handle(deliveryMessage);
          return [];
        } catch (error) {
          logger.log('DEAD_REMINDER_STAYS', { messageId, error });
          return [{ itemIdentifier: messageId }];
        }
      }),
    );
    return { batchItemFailures: kept.flat() };
  });
