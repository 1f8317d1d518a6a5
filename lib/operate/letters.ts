import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

/** SQS takes and gives at most ten messages in a request. */
const BATCH = 10;
/** For how long a letter that was read is hidden from others, unless it is given back before. */
const HIDDEN_SECONDS = 60;
/** A long poll asks all servers that hold parts of the queue, so that nothing is overlooked. */
const WAIT_SECONDS = 1;

/** A message that is in hand. */
export interface Letter {
  id: string;
  sentAt: Date;
  receives: number;
  body: string;
  receiptHandle: string;
  message: Message;
}

/** A queue of dead letters, for an operator's commands. */
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
    return Messages.map(letterOf);
  }

  return {
    /** Takes letters in hand, batch by batch, until there are none or so many. */
    async *take(max: number): AsyncGenerator<Letter[]> {
      const seen = new Set<string>();
      while (seen.size < max) {
        const letters = await receive(max - seen.size);
        // A letter that became visible again was read already.
        const fresh = letters.filter(({ id }) => !seen.has(id));
        if (fresh.length === 0) return;
        for (const { id } of fresh) seen.add(id);
        yield fresh;
      }
    },

    /** Lets others see letters again, at once. */
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

    /** @returns those that were deleted */
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
 * Puts letters into a queue as they were.
 * @returns those that it took
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

const letterOf = (message: Message): Letter => ({
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
