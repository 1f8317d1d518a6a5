import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { hiddenSeconds } from '../domain/backoff.ts';
import { Reminder } from '../domain/delivery.ts';

/** SQS takes at most ten messages in a request. */
const BATCH = 10;

export function deliveryQueue(client: SQSClient, url: string) {
  return {
    /**
     * Sends reminders; gives back those that the queue did not take. `MessageGroupId` makes the queue a fair one: an endpoint with
     * a backlog does not hold up the others.
     */
    async send(reminders: readonly Reminder[]): Promise<Reminder[]> {
      const batches = Array.from({ length: Math.ceil(reminders.length / BATCH) }, (_, batch) =>
        reminders.slice(batch * BATCH, (batch + 1) * BATCH),
      );
      const refused = await Promise.all(
        batches.map(async (batch) => {
          const { Failed = [] } = await client.send(
            new SendMessageBatchCommand({
              QueueUrl: url,
              Entries: batch.map((reminder, index) => ({
                Id: String(index),
                MessageBody: JSON.stringify(Reminder.parse(reminder)),
                MessageGroupId: reminder.webhookId,
              })),
            }),
          );
          const failed = new Set(Failed.map((entry) => Number(entry.Id)));
          return batch.filter((_, index) => failed.has(index));
        }),
      );
      return refused.flat();
    },

    /** Hides a received message so that it does not come back before `until`. */
    async hide(receiptHandle: string, until: Date, now: Date): Promise<void> {
      await client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: url,
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: hiddenSeconds(until, now),
        }),
      );
    },
  };
}
