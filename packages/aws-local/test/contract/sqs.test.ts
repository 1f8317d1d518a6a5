import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSqs } from '../../src/engines/sqs.ts';
import { provisionQueues } from '../../src/provision/provision.ts';
import { startRun } from './abandoned-run.ts';
import { sqsClient } from './clients.ts';
import { aTemplate } from './fixture.ts';
import { receive, release, send, summary } from './queue-messages.ts';
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

describe('the embedded SQS', () => {
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

  it('accepts the receipt handle of a message that was received before a restart', async () => {
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
});

describe('the size limits of the embedded SQS', () => {
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

  it("are those of the engine's configuration", async () => {
    const engine = await startSqs({ directory: stateDirectory(), messageBytes: 2048 });
    onTestFinished(() => engine.stop());
    const { client, url } = await provisioned(engine.endpoint);
    await send(client, url('Work'), 'x'.repeat(2048));
    await expect(send(client, url('Work'), 'x'.repeat(2049))).rejects.toThrow('shorter than 2048 bytes');
  });
});
