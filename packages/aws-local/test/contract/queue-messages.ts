import {
  ChangeMessageVisibilityCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

export const send = (client: SQSClient, QueueUrl: string, MessageBody: string) =>
  client.send(new SendMessageCommand({ QueueUrl, MessageBody }));

export async function receive(client: SQSClient, QueueUrl: string): Promise<Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] }),
  );
  return Messages;
}

export const release = (client: SQSClient, QueueUrl: string, { ReceiptHandle }: Message) =>
  client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));

/** Bodies with receive counts. */
export const summary = (messages: Message[]) =>
  messages.map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount]);
