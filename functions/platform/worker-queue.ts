import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { BusEvent } from '../domain/bus.ts';

/** The queue of a worker behind the bus, for who sends to it what the bus does not: the same messages as the bus sends. */
export function workerQueue(client: SQSClient, url: string) {
  return {
    /**
     * Sends at most ten; gives back those that the queue did not take. `MessageGroupId` makes the queue a fair one: an organization with very much
     * to do does not hold up the others.
     */
    async send(events: readonly BusEvent[]): Promise<BusEvent[]> {
      const { Failed = [] } = await client.send(
        new SendMessageBatchCommand({
          QueueUrl: url,
          Entries: events.map((event, index) => ({
            Id: String(index),
            MessageBody: JSON.stringify({ detail: BusEvent.parse(event) }),
            MessageGroupId: event.orgId,
          })),
        }),
      );
      const failed = new Set(Failed.map(({ Id }) => Number(Id)));
      return events.filter((_, index) => failed.has(index));
    },
  };
}
