import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

export interface Poll {
  /** 1 to 10. */
  limit: number;
  /** How long to wait for a first message. */
  waitSeconds: number;
  /** May end the wait early. */
  signal: AbortSignal;
}

/** A message to send, as in `SendMessage`. */
export type NewMessage = Omit<SendMessageBatchRequestEntry, 'Id'>;

/** What event sources and buses do with queues, by URL. */
export interface Queues {
  /** How long a poll may wait: one that does not end early delays the stop of the run. */
  longestPollSeconds: number;
  /** Receives messages with all their attributes. */
  receive(queueUrl: string, poll: Poll): Promise<readonly Message[]>;
  /** @param receiptHandles ten at most */
  delete(queueUrl: string, receiptHandles: readonly string[]): Promise<void>;
  /**
   * Makes received messages visible at once.
   * @param receiptHandles ten at most
   */
  release(queueUrl: string, receiptHandles: readonly string[]): Promise<void>;
  send(queueUrl: string, message: NewMessage): Promise<void>;
  /**
   * Sends ten messages at most in one request.
   * @returns for each message why it was refused; undefined if it was not
   */
  sendAll(queueUrl: string, messages: readonly NewMessage[]): Promise<(string | undefined)[]>;
}

/** Calls the API of SQS, which every engine has. */
export const queuesOfApi = (sqs: SQSClient): Queues => ({
  longestPollSeconds: 1,
  // Never aborted: an aborted poll may hide messages until their visibility timeout ends.
  async receive(QueueUrl, { limit, waitSeconds }) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ ...receiveRequest(QueueUrl, limit), WaitTimeSeconds: waitSeconds }),
    );
    return Messages;
  },
  async delete(queueUrl, handles) {
    await sqs.send(new DeleteMessageBatchCommand(deleteRequest(queueUrl, handles)));
  },
  async release(queueUrl, handles) {
    await sqs.send(new ChangeMessageVisibilityBatchCommand(releaseRequest(queueUrl, handles)));
  },
  async send(QueueUrl, message) {
    await sqs.send(new SendMessageCommand({ QueueUrl, ...message }));
  },
  async sendAll(queueUrl, messages) {
    const { Failed } = await sqs.send(new SendMessageBatchCommand(sendRequest(queueUrl, messages)));
    return refusalsOf(messages, Failed);
  },
});

export const receiveRequest = (QueueUrl: string, MaxNumberOfMessages: number) => ({
  QueueUrl,
  MaxNumberOfMessages,
  MessageSystemAttributeNames: ['All' as const],
  MessageAttributeNames: ['All'],
});

export const deleteRequest = (QueueUrl: string, handles: readonly string[]) => ({
  QueueUrl,
  Entries: handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle })),
});

export const releaseRequest = (QueueUrl: string, handles: readonly string[]) => ({
  QueueUrl,
  Entries: handles.map((ReceiptHandle, index) => ({
    Id: String(index),
    ReceiptHandle,
    VisibilityTimeout: 0,
  })),
});

export const sendRequest = (QueueUrl: string, messages: readonly NewMessage[]) => ({
  QueueUrl,
  Entries: messages.map((message, index) => ({ Id: String(index), ...message })),
});

interface FailedEntry {
  Id: string | undefined;
  Code: string | undefined;
  Message?: string | undefined;
}

export function refusalsOf(
  messages: readonly NewMessage[],
  failed: readonly FailedEntry[] = [],
): (string | undefined)[] {
  const reasons = new Map(failed.map(({ Id, Code, Message }) => [Id, `${Code}: ${Message}`]));
  return messages.map((_, index) => reasons.get(String(index)));
}
