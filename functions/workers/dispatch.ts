import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { Reminder } from '../domain/delivery.ts';
import { currentVersion } from '../domain/keyring.ts';
import { attemptClocks } from '../domain/timing.ts';
import { dispatch } from '../engine/dispatch.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { secretValue } from '../platform/clients/secrets-manager.ts';
import { queueClient } from '../platform/clients/sqs.ts';
import { DispatchEnvironment, loopbackReceivers, readEnvironment, retryPolicy } from '../platform/config.ts';
import { deliveryQueue } from '../platform/delivery-queue.ts';
import { keyringSource } from '../platform/keyrings.ts';
import { logger } from '../platform/logger.ts';
import { outboundClient } from '../platform/outbound/client.ts';
import { logContext } from '../platform/pipeline/worker.ts';
import { webhookSender } from '../platform/webhook-sender.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { deliveryContexts } from '../store/delivery-context.ts';
import { endpointStore } from '../store/endpoints.ts';
import { committer } from '../store/transaction.ts';

const environment = readEnvironment(DispatchEnvironment);
const clocks = attemptClocks(environment.ATTEMPT_TIMEOUT_SECONDS);
const client = documentClient();
const service = { client, name: environment.SERVICE_TABLE };
const queue = deliveryQueue(queueClient(), environment.DELIVERY_QUEUE);
const contextsOf = deliveryContexts(service, { name: environment.OUTBOX_TABLE });
const signingKeys = keyringSource(secretValue(environment.SIGNING_KEYS));
const now = () => new Date();

const deal = dispatch(
  {
    deliveries: deliveryStore({ client, name: environment.DELIVERIES_TABLE }, service, committer(client)),
    endpoints: endpointStore(service),
    attempt: webhookSender({
      outbound: outboundClient({
        policy: { loopback: loopbackReceivers() },
        timeoutMs: clocks.attempt * 1000,
      }),
      signingKeys,
      now,
    }),
    log: logger,
    now,
  },
  { retry: retryPolicy(environment), leaseSeconds: clocks.lease },
);

/**
 * Takes reminders from the delivery queue, all of a batch at once. Those reported as failed stay in the queue, hidden until their
 * delivery is due; the others are deleted.
 */
export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(logContext(logger))
  .handler(async ({ Records }: SQSEvent) => {
    const reminders = Records.map((record) => ({ record, reminder: parse(record) }));
    // Without the keys no attempt can be made, and one that is claimed counts: so they are had before any claim.
    const [contextOf] = await Promise.all([
      contextsOf(reminders.flatMap(({ reminder }) => reminder ?? [])),
      signingKeys(currentVersion),
    ]);

    const kept = await Promise.all(
      reminders.map(async ({ record, reminder }) => {
        // A message of no known form stays until the queue moves it to the dead letters.
        if (reminder === undefined) return [record.messageId];
        try {
          const disposition = await deal(reminder, contextOf(reminder));
          if (disposition.kind === 'delete') return [];
          await queue.hide(record.receiptHandle, disposition.until, now());
        } catch (error) {
          logger.error('a delivery could not be dealt with and is left to its queue', {
            deliveryId: reminder.id,
            reason: String(error),
          });
        }
        return [record.messageId];
      }),
    );
    return { batchItemFailures: kept.flat().map((itemIdentifier) => ({ itemIdentifier })) };
  });

function parse({ body, messageId }: SQSRecord): Reminder | undefined {
  try {
    return Reminder.parse(JSON.parse(body));
  } catch (error) {
    logger.error('a queue message is no reminder', { messageId, reason: String(error) });
    return undefined;
  }
}
