import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

const sqs = new SQSClient({});

export async function order({ body }) {
  const { MessageId } = await sqs.send(
    new SendMessageCommand({ QueueUrl: process.env.QUEUE_URL, MessageBody: body }),
  );
  return { statusCode: 202, body: JSON.stringify({ id: MessageId }) };
}

export async function work({ Records }) {
  for (const { messageId, body } of Records) process.stdout.write(`worked off ${messageId}: ${body}\n`);
}
