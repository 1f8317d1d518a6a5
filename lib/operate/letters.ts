import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

/** SQS's limit on the messages of a request. */
const BATCH = 10;
/** How long a received letter is hidden, unless it is released before. */
const HIDDEN_SECONDS = 60;
/** A long poll queries all servers of the queue, so that no message is missed. */
const WAIT_SECONDS = 1;

/** A received message. */
export interface Letter {
  id: string;
  sentAt: Date;
  receives: number;
  body: string;
  receiptHandle: string;
  message: Message;
}

export function letterBox(client: SQSClient, url: string) {
  async function receive(wanted: number): Promise<Letter[]> {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(BATCH, wanted),
        VisibilityTimeout: HIDDEN_SECONDS,
        WaitTimeSeconds: WAIT_SECONDS,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['SentTimestamp', 'ApproximateReceiveCount', 'MessageGroupId'],
      }),
    );
    return Messages.map(parseLetter);
  }

  return {
    /** Receives letters in batches, `max` at most. */
    async *take(max: number): AsyncGenerator<Letter[]> {
      const seen = new Set<string>();
      while (seen.size < max) {
        const letters = await receive(max - seen.size);
        // A letter that became visible again was already read.
        const fresh = letters.filter(({ id }) => !seen.has(id));
        if (fresh.length === 0) return;
        for (const { id } of fresh) seen.add(id);
        yield fresh;
      }
    },

    /** Makes letters visible again at once. */
    async giveBack(letters: readonly Letter[]): Promise<void> {
      for (const batch of batches(letters))
        await client.send(
          new ChangeMessageVisibilityBatchCommand({
            QueueUrl: url,
            Entries: batch.map(({ receiptHandle: ReceiptHandle }, index) => ({
              Id: String(index),
              ReceiptHandle,
              VisibilityTimeout: 0,
            })),
          }),
        );
    },

    /** @returns the deleted letters */
    async remove(letters: readonly Letter[]): Promise<Letter[]> {
      const removed: Letter[] = [];
      for (const batch of batches(letters)) {
        const { Successful = [] } = await client.send(
          new DeleteMessageBatchCommand({
            QueueUrl: url,
            Entries: batch.map(({ receiptHandle: ReceiptHandle }, index) => ({
              Id: String(index),
              ReceiptHandle,
            })),
          }),
        );
        removed.push(...named(batch, Successful));
      }
      return removed;
    },
  };
}

/**
 * Sends letters unchanged to a queue.
 * @returns those that the queue accepted
 */
export async function sendLetters(
  client: SQSClient,
  url: string,
  letters: readonly Letter[],
): Promise<Letter[]> {
  const sent: Letter[] = [];
  for (const batch of batches(letters)) {
    const { Successful = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: url,
        Entries: batch.map(({ body, message }, index) => ({
          Id: String(index),
          MessageBody: body,
          ...(message.MessageAttributes && { MessageAttributes: message.MessageAttributes }),
          ...(message.Attributes?.MessageGroupId && { MessageGroupId: message.Attributes.MessageGroupId }),
        })),
      }),
    );
    sent.push(...named(batch, Successful));
  }
  return sent;
}

const parseLetter = (message: Message): Letter => ({
  id: message.MessageId ?? '',
  sentAt: new Date(Number(message.Attributes?.SentTimestamp)),
  receives: Number(message.Attributes?.ApproximateReceiveCount),
  body: message.Body ?? '',
  receiptHandle: message.ReceiptHandle ?? '',
  message,
});

const named = (batch: readonly Letter[], entries: readonly { Id?: string | undefined }[]): Letter[] =>
  batch.filter((_, index) => entries.some(({ Id }) => Id === String(index)));

const batches = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / BATCH) }, (_, batch) =>
    all.slice(batch * BATCH, (batch + 1) * BATCH),
  );
