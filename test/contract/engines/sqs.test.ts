import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSqs } from '../../../lib/local/engines/sqs.ts';
import { provisionQueues } from '../../../lib/local/provision/provision.ts';
import { awaitAssertion } from '../../support/until.ts';
import { startRun } from './abandoned-run.ts';
import { sqsClient } from './clients.ts';
import { aTemplate } from './fixture.ts';
import { stateDirectory } from './state-directory.ts';

async function provisioned(endpoint: string, changes: object = {}) {
  const client = sqsClient(endpoint);
  const { template, references } = aTemplate(changes);
  await provisionQueues(template, references, client, endpoint);
  return { client, references, url: (id: string) => String(references.resolve({ Ref: id })) };
}

async function start(directory: string, changes: object = {}) {
  const engine = await startSqs({ directory });
  onTestFinished(() => engine.stop());
  return await provisioned(engine.endpoint, changes);
}

const send = (client: SQSClient, QueueUrl: string, MessageBody: string) =>
  client.send(new SendMessageCommand({ QueueUrl, MessageBody }));

async function receive(client: SQSClient, QueueUrl: string): Promise<Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] }),
  );
  return Messages;
}

const release = (client: SQSClient, QueueUrl: string, { ReceiptHandle }: Message) =>
  client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));

async function counts(client: SQSClient, QueueUrl: string) {
  const AttributeNames = [
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
  ] as const;
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
  );
  const [visible, hidden, delayed] = AttributeNames.map((name) => Attributes?.[name]);
  return { visible, hidden, delayed };
}

const summary = (messages: Message[]) =>
  messages.map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount]);

describe('the embedded SQS', () => {
  it('gives a message the trace header that was sent with it, which is none of its own attributes', async () => {
    const { client, url } = await start(stateDirectory());
    const QueueUrl = url('Work');
    const AWSTraceHeader = { DataType: 'String', StringValue: 'Root=1-2;Lineage=fn:3' } as const;
    const sent = { QueueUrl, MessageBody: 'traced', MessageSystemAttributes: { AWSTraceHeader } };
    await client.send(new SendMessageCommand(sent));
    await send(client, QueueUrl, 'untraced');
    const [traced, untraced] = await receive(client, QueueUrl);
    expect(traced?.Attributes?.AWSTraceHeader).toBe('Root=1-2;Lineage=fn:3');
    expect(traced?.MessageAttributes).toBeUndefined();
    expect(traced?.MD5OfMessageAttributes).toBeUndefined();
    expect(untraced?.Attributes).not.toHaveProperty('AWSTraceHeader');
  });

  it('keeps messages, their visibility and their receive counts when the whole run is killed', async () => {
    const directory = stateDirectory();
    const run = await startRun(directory);
    const before = await provisioned(run.sqs);
    await send(before.client, before.url('Work'), 'hidden');
    await receive(before.client, before.url('Work'));
    await send(before.client, before.url('Work'), 'released');
    for (const message of await receive(before.client, before.url('Work'))) {
      await release(before.client, before.url('Work'), message);
    }
    await send(before.client, before.url('Work'), 'never seen');
    await run.kill();

    const { client, url } = await start(directory);

    expect(summary(await receive(client, url('Work')))).toEqual([
      ['released', '2'],
      ['never seen', '1'],
    ]);
  });

  it('honours the receipt of a message that was received before a restart', async () => {
    const directory = stateDirectory();
    const engine = await startSqs({ directory });
    const before = await provisioned(engine.endpoint);
    await send(before.client, before.url('Work'), 'done');
    const [message] = await receive(before.client, before.url('Work'));
    await engine.stop();

    const { client, url } = await start(directory);
    await client.send(
      new DeleteMessageCommand({ QueueUrl: url('Work'), ReceiptHandle: message?.ReceiptHandle }),
    );

    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url('Work'), AttributeNames: ['All'] }),
    );
    expect(Attributes).toMatchObject({
      ApproximateNumberOfMessages: '0',
      ApproximateNumberOfMessagesNotVisible: '0',
    });
  });

  it('counts on when a message is released at once', async () => {
    const { client, url } = await start(stateDirectory());
    await send(client, url('Failed'), 'again');
    const [first] = await receive(client, url('Failed'));
    await release(client, url('Failed'), first ?? {});

    expect(summary(await receive(client, url('Failed')))).toEqual([['again', '2']]);
  });

  it('moves a message to the dead-letter queue after its last receive', async () => {
    const { client, url } = await start(stateDirectory());
    await send(client, url('Work'), 'poison');
    for (let receives = 0; receives < 2; receives += 1) {
      for (const message of await receive(client, url('Work'))) await release(client, url('Work'), message);
    }

    expect(await receive(client, url('Work'))).toEqual([]);
    expect((await receive(client, url('Failed'))).map(({ Body }) => Body)).toEqual(['poison']);
  });
});

describe('a provisioned queue', () => {
  it('is known by its URL, name and ARN', async () => {
    const { references, url } = await start(stateDirectory());

    expect(url('Work')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/000000000000\/Test-Work$/);
    expect(references.resolve({ 'Fn::GetAtt': ['Work', 'Arn'] })).toBe(
      'arn:aws:sqs:us-east-1:000000000000:Test-Work',
    );
    expect(references.resolve({ 'Fn::GetAtt': ['Ordered', 'QueueName'] })).toBe('Test-Ordered.fifo');
  });

  it('takes the attributes of a changed template, and its defaults where it says nothing', async () => {
    const directory = stateDirectory();
    const engine = await startSqs({ directory });
    await provisioned(engine.endpoint);
    await engine.stop();

    const { client, url } = await start(directory, {
      Work: { Type: 'AWS::SQS::Queue', Properties: { DelaySeconds: 7 } },
    });

    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url('Work'), AttributeNames: ['All'] }),
    );
    expect(Attributes).toMatchObject({ DelaySeconds: '7', VisibilityTimeout: '30' });
    expect(Attributes).not.toHaveProperty('RedrivePolicy');
  });
});

describe('a message', () => {
  it('with a delay of its own is hidden for as long', async () => {
    const { client, url } = await start(stateDirectory());
    const QueueUrl = url('Work');
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'at once' }));
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 1 }));
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'much later', DelaySeconds: 900 }));

    expect((await receive(client, QueueUrl)).map(({ Body }) => Body)).toEqual(['at once']);
    expect(await counts(client, QueueUrl)).toEqual({ visible: '0', hidden: '1', delayed: '2' });
    await awaitAssertion(async () =>
      expect((await receive(client, QueueUrl)).map(({ Body }) => Body)).toEqual(['later']),
    );
  });

  it('is counted as visible, hidden or delayed', async () => {
    const { client, url } = await start(stateDirectory());
    const QueueUrl = url('Work');
    for (const body of ['first', 'second', 'third']) await send(client, QueueUrl, body);
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'fourth', DelaySeconds: 900 }));
    expect(await counts(client, QueueUrl)).toEqual({ visible: '3', hidden: '0', delayed: '1' });

    const [message] = await receive(client, QueueUrl);
    expect(await counts(client, QueueUrl)).toEqual({ visible: '0', hidden: '3', delayed: '1' });
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle ?? '' }));
    expect(await counts(client, QueueUrl)).toEqual({ visible: '0', hidden: '2', delayed: '1' });
  });

  it('may name a group in a standard queue, where groups order nothing', async () => {
    const { client, url } = await start(stateDirectory());
    const QueueUrl = url('Work');
    const grouped = (MessageBody: string) =>
      client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: 'org_1' }));
    await grouped('first');
    await grouped('second');
    await client.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [{ Id: '0', MessageBody: 'third', MessageGroupId: 'org_1', DelaySeconds: 0 }],
      }),
    );

    // A group of a FIFO queue would hold the others back until the first is deleted.
    expect((await receive(client, QueueUrl)).map(({ Body }) => Body).sort()).toEqual([
      'first',
      'second',
      'third',
    ]);
  });

  it('is hidden anew for as long as its receiver asks', async () => {
    const { client, url } = await start(stateDirectory());
    const QueueUrl = url('Work');
    await send(client, QueueUrl, 'again');
    const [message] = await receive(client, QueueUrl);
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl,
        ReceiptHandle: message?.ReceiptHandle,
        VisibilityTimeout: 1,
      }),
    );
    await awaitAssertion(async () =>
      expect(summary(await receive(client, QueueUrl))).toEqual([['again', '2']]),
    );
  });
});

describe('the sizes that the embedded SQS takes', () => {
  const KB_256 = 262_144;

  it('are 256 KB of a message, its attributes included', async () => {
    const { client, url } = await start(stateDirectory());
    const QueueUrl = url('Work');

    await send(client, QueueUrl, 'x'.repeat(KB_256));
    await expect(send(client, QueueUrl, 'x'.repeat(KB_256 + 1))).rejects.toThrow(
      'Message must be shorter than 262144 bytes',
    );
    await expect(send(client, QueueUrl, 'ö'.repeat(KB_256 / 2 + 1))).rejects.toThrow('must be shorter');
    const MessageAttributes = { name: { DataType: 'String', StringValue: 'x' } };
    await expect(
      client.send(
        new SendMessageCommand({ QueueUrl, MessageBody: 'x'.repeat(KB_256 - 5), MessageAttributes }),
      ),
    ).rejects.toThrow('must be shorter');
    expect(await receive(client, QueueUrl)).toHaveLength(1);
  });

  it('are 256 KB of a batch, which is refused as a whole', async () => {
    const { client, url } = await start(stateDirectory());
    const QueueUrl = url('Work');
    const sendBatch = (...sizes: number[]) =>
      client.send(
        new SendMessageBatchCommand({
          QueueUrl,
          Entries: sizes.map((size, index) => ({ Id: String(index), MessageBody: 'x'.repeat(size) })),
        }),
      );

    await sendBatch(KB_256 / 2, KB_256 / 2);
    await expect(sendBatch(KB_256 / 2, KB_256 / 2 + 1)).rejects.toThrow(
      'Batch requests cannot be longer than 262144 bytes',
    );
    expect(await receive(client, QueueUrl)).toHaveLength(2);
  });

  it('are those that the engine was told', async () => {
    const engine = await startSqs({ directory: stateDirectory(), messageBytes: 2048 });
    onTestFinished(() => engine.stop());
    const { client, url } = await provisioned(engine.endpoint);
    await send(client, url('Work'), 'x'.repeat(2048));
    await expect(send(client, url('Work'), 'x'.repeat(2049))).rejects.toThrow('shorter than 2048 bytes');
  });
});
