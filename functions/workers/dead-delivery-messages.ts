import * as z from 'zod/mini';
import { openTables } from '../aws/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { count, DEAD_LETTERS } from '../aws/metrics.ts';
import { dueIndex } from '../delivery/due-index.ts';
import { parseDeliveryMessage } from '../delivery/queues.ts';
import { processDeadDeliveryMessage } from '../delivery/reconcile.ts';
import { queueWorker } from '../events/worker.ts';

export const DeadDeliveryMessagesEnvironment = z.object({
  DELIVERIES_TABLE: NonEmptyText,
  GRACE_SECONDS: DecimalNumber,
});

const environment = readEnvironment(DeadDeliveryMessagesEnvironment);

const handle = processDeadDeliveryMessage(
  { due: dueIndex(openTables(environment).deliveries), log: logger.log, now: () => new Date() },
  { graceSeconds: environment.GRACE_SECONDS },
);

/** Processes the dead letters of the delivery queues. */
export const handler = queueWorker(async ({ body, messageId }) => {
  const deliveryMessage = parseDeliveryMessage(body, messageId);
  if (deliveryMessage === undefined) return 'done';
  count(DEAD_LETTERS);
  try {
    await handle(deliveryMessage);
    return 'done';
  } catch (error) {
    logger.log('DEAD_REMINDER_STAYS', { messageId, error });
    return 'stays';
  }
});
