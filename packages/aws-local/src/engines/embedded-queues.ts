import { type Message, type MessageAttributeValue, QueueDoesNotExist } from '@aws-sdk/client-sqs';
import {
  deleteRequest,
  type NewMessage,
  type Queues,
  receiveRequest,
  refusalsOf,
  releaseRequest,
  sendRequest,
} from '../sources/queues.ts';
import { completeAnswer, prepareRequest } from './dropped-fields.ts';
import type { Internals, Operations, SqsStore } from './fauxqs.ts';
import { findOversize } from './message-sizes.ts';

/**
 * Calls the operations of the embedded SQS as its server does, without a request of this process to itself,
 * which took most of the processor time of a message.
 */
export function embeddedQueues(store: SqsStore, { operations }: Internals, limitBytes: number): Queues {
  async function call<Name extends keyof Operations>(
    operation: Name,
    body: Record<string, unknown>,
  ): Promise<Operations[Name]> {
    const target = `AmazonSQS.${operation}`;
    const oversize = findOversize(target, body, limitBytes);
    if (oversize) throw Object.assign(new Error(oversize.message), { name: oversize.code });
    prepareRequest(target, body);
    try {
      return completeAnswer(target, body, await operations[operation](body, store));
    } catch (error) {
      throw asSdkError(error);
    }
  }

  return {
    // SQS's limit.
    longestPollSeconds: 20,
    async receive(queueUrl, { limit, waitSeconds, signal }) {
      const body = { ...receiveRequest(queueUrl, limit), WaitTimeSeconds: signal.aborted ? 0 : waitSeconds };
      // The poll then receives what has arrived, as at the end of its wait.
      const endWait = () => store.getQueue(queueUrl)?.cancelWaiters();
      signal.addEventListener('abort', endWait);
      const { Messages = [] } = await call('ReceiveMessage', body);
      signal.removeEventListener('abort', endWait);
      return Messages.map(decodeBinary);
    },
    async delete(queueUrl, handles) {
      await call('DeleteMessageBatch', deleteRequest(queueUrl, handles));
    },
    async release(queueUrl, handles) {
      await call('ChangeMessageVisibilityBatch', releaseRequest(queueUrl, handles));
    },
    async send(QueueUrl, message: NewMessage) {
      await call('SendMessage', { QueueUrl, ...encodeBinary(message) });
    },
    async sendAll(queueUrl, messages) {
      const { Failed } = await call('SendMessageBatch', sendRequest(queueUrl, messages.map(encodeBinary)));
      return refusalsOf(messages, Failed);
    },
  };
}

type Attributes = Record<string, MessageAttributeValue> | undefined;

/** In JSON, and so in the engine, a binary value is base64. */
const encodeBinary = (message: NewMessage) =>
  mapAttributes(message, (bytes) => toBuffer(bytes).toString('base64'));

const decodeBinary = (message: Message): Message =>
  mapAttributes(message, (text) => Buffer.from(String(text), 'base64'));

const toBuffer = (bytes: unknown): Buffer => Buffer.from(bytes instanceof Uint8Array ? bytes : []);

function mapAttributes<T extends { MessageAttributes?: Attributes }>(
  message: T,
  convert: (value: unknown) => unknown,
): T {
  const attributes = Object.entries(message.MessageAttributes ?? {});
  if (attributes.length === 0) return message;
  const mapped = attributes.map(([name, value]) =>
    value.BinaryValue === undefined
      ? [name, value]
      : [name, { ...value, BinaryValue: convert(value.BinaryValue) }],
  );
  return { ...message, MessageAttributes: Object.fromEntries(mapped) };
}

/** The engine's errors have the code that the SDK has as the error's name. */
function asSdkError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && error.name === 'SqsError')) return error;
  const { message, code } = error;
  if (code === 'QueueDoesNotExist') return new QueueDoesNotExist({ message, $metadata: {} });
  return Object.assign(new Error(message), { name: String(code) });
}
