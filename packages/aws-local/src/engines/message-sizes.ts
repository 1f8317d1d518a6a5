import type { buildApp } from 'fauxqs';
import * as z from 'zod';

/**
 * SQS's limit on a message and a batch. AWS raised it to 1 MiB in 2025; some of its pages still give this
 * one.
 */
export const MESSAGE_BYTES = 262_144;

type App = ReturnType<typeof buildApp>;

const Message = z.object({
  MessageBody: z.string(),
  MessageAttributes: z
    .record(
      z.string(),
      z.object({
        DataType: z.string(),
        StringValue: z.string().optional(),
        BinaryValue: z.string().optional(),
      }),
    )
    .default({}),
});
const Batch = z.object({ Entries: z.array(Message) });

/** Rejects messages above `limitBytes` with SQS's error; the engine's own limit is 1 MiB. */
export function limitMessages(app: App, limitBytes: number): void {
  app.addHook('preHandler', async (request, reply) => {
    const refusal = findOversize(String(request.headers['x-amz-target']), request.body, limitBytes);
    if (refusal === undefined) return;
    const { code, message } = refusal;
    await reply
      .code(400)
      .headers({ 'content-type': 'application/x-amz-json-1.0', 'x-amzn-query-error': `${code};Sender` })
      .send({ __type: `com.amazonaws.sqs#${code}`, message });
  });
}

/** SQS's error for a request above `limitBytes`; undefined for any other. */
export function findOversize(target: string, body: unknown, limitBytes: number) {
  if (target === 'AmazonSQS.SendMessage') {
    const message = Message.safeParse(body);
    if (!message.success || messageSize(message.data) <= limitBytes) return undefined;
    return {
      code: 'InvalidParameterValue',
      message: `One or more parameters are invalid. Reason: Message must be shorter than ${limitBytes} bytes.`,
    };
  }
  if (target !== 'AmazonSQS.SendMessageBatch') return undefined;
  const batch = Batch.safeParse(body);
  if (!batch.success) return undefined;
  const size = batch.data.Entries.reduce((sum, message) => sum + messageSize(message), 0);
  if (size <= limitBytes) return undefined;
  return {
    code: 'BatchRequestTooLong',
    message: `Batch requests cannot be longer than ${limitBytes} bytes. You have sent ${size} bytes.`,
  };
}

/** Body plus attribute names, types and values (Developer Guide, Amazon SQS message quotas). */
function messageSize({ MessageBody, MessageAttributes }: z.output<typeof Message>): number {
  const attributes = Object.entries(MessageAttributes).map(
    ([name, { DataType, StringValue = '', BinaryValue = '' }]) =>
      Buffer.byteLength(name) +
      Buffer.byteLength(DataType) +
      Buffer.byteLength(StringValue) +
      Buffer.byteLength(BinaryValue, 'base64'),
  );
  return attributes.reduce((sum, size) => sum + size, Buffer.byteLength(MessageBody));
}
