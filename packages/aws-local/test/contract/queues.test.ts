import { randomUUID } from 'node:crypto';
import {
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { provisionQueues } from '../../src/provision/provision.ts';
import { sqs } from '../support/engines.ts';
import { aTemplate } from './fixture.ts';
import { receive, release, send } from './queue-messages.ts';

const engine = sqs();

const A_QUEUE = { Type: 'AWS::SQS::Queue', Properties: {} };
/** No FIFO queue: the service has none, and some engines cannot provision them. */
const STANDARD = { Ordered: A_QUEUE };

/** The queues of the template on the engine under test, with names of their own. */
async function provisioned(changes: object = STANDARD, stack = `Test${randomUUID().slice(0, 8)}`) {
  const client = engine.client();
  const { template, references } = aTemplate(changes, stack);
  await provisionQueues(template, references, client, engine.endpoint());
  const url = (id: string) => String(references.resolve({ Ref: id }));
  onTestFinished(async () => {
    for (const id of ['Work', 'Failed', 'Ordered'])
      await client.send(new DeleteQueueCommand({ QueueUrl: url(id) })).catch(() => undefined);
  });
  return { client, references, stack, url };
}

describe('a provisioned queue', () => {
  it('has its URL, name and ARN', async () => {
    const { references, stack, url } = await provisioned();

    expect(url('Work')).toBe(`${engine.endpoint()}/000000000000/${stack}-Work`);
    expect(references.resolve({ 'Fn::GetAtt': ['Work', 'Arn'] })).toBe(
      `arn:aws:sqs:us-east-1:000000000000:${stack}-Work`,
    );
  });

  it('is a FIFO queue where the template says so', async () => {
    const { references, stack } = await provisioned({});

    expect(references.resolve({ 'Fn::GetAtt': ['Ordered', 'QueueName'] })).toBe(`${stack}-Ordered.fifo`);
  });

  it('has the attributes of a changed template, with defaults for missing ones', async () => {
    const { stack } = await provisioned();

    const { client, url } = await provisioned(
      { ...STANDARD, Work: { ...A_QUEUE, Properties: { DelaySeconds: 7 } } },
      stack,
    );

    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url('Work'), AttributeNames: ['All'] }),
    );
    expect(Attributes).toMatchObject({ DelaySeconds: '7', VisibilityTimeout: '30' });
    expect(Attributes).not.toHaveProperty('RedrivePolicy');
  });
});

describe('a message', () => {
  it('may have a group in a standard queue, which does not order groups', async () => {
    const { client, url } = await provisioned();
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

  it('has the trace header that was sent with it, apart from its own attributes', async () => {
    const { client, url } = await provisioned();
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

  it('is moved to the dead-letter queue after its last receive', async () => {
    const { client, url } = await provisioned();
    await send(client, url('Work'), 'poison');
    for (let receives = 0; receives < 2; receives += 1) {
      for (const message of await receive(client, url('Work'))) await release(client, url('Work'), message);
    }

    expect(await receive(client, url('Work'))).toEqual([]);
    expect((await receive(client, url('Failed'))).map(({ Body }) => Body)).toEqual(['poison']);
  });
});
