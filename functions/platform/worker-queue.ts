import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { BusEvent } from '../domain/bus.ts';
import type { DeadLetter } from '../domain/dead-letter.ts';
import { MAX_DELAY_SECONDS } from '../domain/timing.ts';
import { chunksOf, REQUEST_BYTES } from './chunks.ts';

/** Messages that SQS takes in one request. */
const ENTRIES = 10;

/**
 * The queue of a worker behind the bus, for who sends to it what the bus does not: the same messages as the
 * bus sends.
 */
export function workerQueue(client: SQSClient, url: string) {
  async function sendSome(some: readonly Outgoing[]): Promise<BusEvent[]> {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: url,
        Entries: some.map(({ event, body }, index) => ({
          Id: String(index),
          MessageBody: body,
          MessageGroupId: event.orgId,
        })),
      }),
    );
    const failed = new Set(Failed.map(({ Id }) => Number(Id)));
    return some.filter((_, index) => failed.has(index)).map(({ event }) => event);
  }

  return {
    /**
     * Sends events, in as few requests as their number and size allow; gives back those that the queue did
     * not take. `MessageGroupId` makes the queue a fair one: an organization with very much to do does not
     * hold up the others.
     */
    async send(events: readonly BusEvent[]): Promise<BusEvent[]> {
      const outgoing = events.map((event) => ({
        event,
        body: JSON.stringify({ detail: BusEvent.parse(event) }),
      }));
      const limits = { entries: ENTRIES, bytes: REQUEST_BYTES };
      const requests = chunksOf(outgoing, ({ body }) => Buffer.byteLength(body), limits);
      return (await Promise.all(requests.map(sendSome))).flat();
    },
  };
}

interface Outgoing {
  event: BusEvent;
  body: string;
}

/** Hides a received message for a number of seconds from now. @param url of the queue */
export const hiding =
  (client: SQSClient, url: string) =>
  async (receiptHandle: string, seconds: number): Promise<void> => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: url,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  };

/** Sends entries of the outbox back to the dead-letter queue, for a later run. @param url of the queue */
export function postponement(client: SQSClient, url: string) {
  return async (ids: readonly string[]): Promise<void> => {
    const letter: DeadLetter = { kind: 'entries', ids };
    await client.send(
      new SendMessageCommand({
        QueueUrl: url,
        MessageBody: JSON.stringify(letter),
        // The longest delay there is: what failed again will not recover in a moment.
        DelaySeconds: MAX_DELAY_SECONDS,
      }),
    );
  };
}
