import { QueueDoesNotExist, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type SqsEngine, startSqs } from '../../src/engines/sqs.ts';
import { provisionQueues } from '../../src/provision/provision.ts';
import { type Queues, queuesOfApi } from '../../src/sources/queues.ts';
import { sqsClient } from './clients.ts';
import { aTemplate } from './fixture.ts';
import { stateDirectory } from './state-directory.ts';

const never = new AbortController().signal;
const now = { limit: 10, waitSeconds: 0, signal: never };

const WAYS: [string, (engine: SqsEngine, client: SQSClient) => Queues][] = [
  ['through the API', (_, client) => queuesOfApi(client)],
  ['in the process of the embedded SQS', ({ queues }) => queues],
];

/** What event sources and buses do with queues is the same with and without a request. */
describe.each(WAYS)('a queue %s', (_way, queuesOf) => {
  async function aQueue() {
    const engine = await startSqs({ directory: stateDirectory() });
    onTestFinished(() => engine.stop());
    const client = sqsClient(engine.endpoint);
    const { template, references } = aTemplate();
    await provisionQueues(template, references, client, engine.endpoint);
    const url = String(references.resolve({ Ref: 'Work' }));
    return { client, url, queues: queuesOf(engine, client) };
  }

  it('gives a message all its attributes', async () => {
    const { queues, url } = await aQueue();
    await queues.send(url, {
      MessageBody: 'one',
      MessageGroupId: 'org_1',
      MessageAttributes: {
        text: { DataType: 'String', StringValue: 'é' },
        bytes: { DataType: 'Binary', BinaryValue: Buffer.from([0, 255]) },
      },
      MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1-2' } },
    });
    const [message] = await queues.receive(url, now);
    expect(message).toMatchObject({
      Body: 'one',
      MD5OfBody: 'f97c5d29941bfb1b2fdab0874906ab82',
      Attributes: { ApproximateReceiveCount: '1', MessageGroupId: 'org_1', AWSTraceHeader: 'Root=1-2' },
    });
    expect(message?.MessageAttributes?.text?.StringValue).toBe('é');
    expect([...(message?.MessageAttributes?.bytes?.BinaryValue ?? [])]).toEqual([0, 255]);
    expect(Object.keys(message?.MessageAttributes ?? {})).toEqual(['text', 'bytes']);
  });

  it('deletes and releases messages by their receipts', async () => {
    const { queues, url } = await aQueue();
    expect(await queues.sendAll(url, [{ MessageBody: 'a' }, { MessageBody: 'b' }])).toEqual([
      undefined,
      undefined,
    ]);
    const received = await queues.receive(url, now);
    const handleOf = (body: string) => String(received.find(({ Body }) => Body === body)?.ReceiptHandle);
    await queues.delete(url, [handleOf('a')]);
    await queues.release(url, [handleOf('b')]);
    const again = await queues.receive(url, now);
    expect(again.map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount])).toEqual([
      ['b', '2'],
    ]);
  });

  it('says which messages of a batch it refuses', async () => {
    const { queues, url } = await aQueue();
    const refusals = await queues.sendAll(url, [{ MessageBody: 'a' }, { MessageBody: '\u0000' }]);
    expect(refusals).toEqual([undefined, expect.stringContaining('InvalidMessageContents: ')]);
  });

  it('rejects a message over the limit, and a queue that does not exist', async () => {
    const { queues, url } = await aQueue();
    const large = { MessageBody: 'x'.repeat(262_145) };
    await expect(queues.send(url, large)).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    await expect(queues.sendAll(url, [large])).rejects.toMatchObject({ name: 'BatchRequestTooLong' });
    await expect(queues.receive(`${url}-other`, now)).rejects.toThrow(QueueDoesNotExist);
  });

  it('ends the wait of a poll with a message, also with one whose delay ends meanwhile', async () => {
    const { queues, client, url } = await aQueue();
    const [sent, delayed] = [{ MessageBody: 'sent' }, { MessageBody: 'delayed', DelaySeconds: 1 }];
    for (const message of [sent, delayed]) {
      const polled = queues.receive(url, { limit: 1, waitSeconds: 20, signal: never });
      await client.send(new SendMessageCommand({ QueueUrl: url, ...message }));
      expect((await polled).map(({ Body }) => Body)).toEqual([message.MessageBody]);
    }
  });
});

it('a poll in the process of the embedded SQS ends with what it has when it is aborted', async () => {
  const engine = await startSqs({ directory: stateDirectory() });
  onTestFinished(() => engine.stop());
  const { template, references } = aTemplate();
  await provisionQueues(template, references, sqsClient(engine.endpoint), engine.endpoint);
  const stopping = new AbortController();
  const url = String(references.resolve({ Ref: 'Work' }));
  const poll = engine.queues.receive(url, { limit: 1, waitSeconds: 20, signal: stopping.signal });
  stopping.abort();
  expect(await poll).toEqual([]);
});
