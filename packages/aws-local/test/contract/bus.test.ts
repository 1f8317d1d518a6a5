import { PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { DeleteQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSqs } from '../../src/engines/sqs.ts';
import { queueAccess } from '../../src/permissions/queue-access.ts';
import { defineNamed, provisionEventBuses, provisionQueues } from '../../src/provision/provision.ts';
import { startBus } from '../../src/sources/bus.ts';
import { busRules } from '../../src/sources/bus-rules.ts';
import { entrySize } from '../../src/sources/put-events.ts';
import { defineRules } from '../../src/sources/rules.ts';
import { eventBridgeClient, sqsClient } from './clients.ts';
import { aTemplate } from './fixture.ts';
import { stateDirectory } from './state-directory.ts';

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

const rule = (EventPattern: object, target: object) => ({
  Type: 'AWS::Events::Rule',
  Properties: {
    EventBusName: { Ref: 'Bus' },
    EventPattern: { source: ['test'], ...EventPattern },
    Targets: [{ Id: 'Target0', ...target }],
  },
});

/** Lets EventBridge send to these queues for the rules of the bus. */
const mayFill = (...queues: string[]) => ({
  Type: 'AWS::SQS::QueuePolicy',
  Properties: {
    Queues: queues.map((Ref) => ({ Ref })),
    PolicyDocument: {
      Version: '2012-10-17',
      Statement: queues.map((queue) => ({
        Effect: 'Allow',
        Principal: { Service: 'events.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: arn(queue),
        Condition: { ArnLike: { 'aws:SourceArn': 'arn:aws:events:us-east-1:000000000000:rule/Bus/*' } },
      })),
    },
  },
});

/** A bus whose events of the type `work` go to one queue, and those that it refuses to another. */
async function aBus(changes: object = {}) {
  const sqsEngine = await startSqs({ directory: stateDirectory() });
  onTestFinished(() => sqsEngine.stop());
  const sqs = sqsClient(sqsEngine.endpoint);
  const { template, references } = aTemplate({
    Bus: { Type: 'AWS::Events::EventBus', Properties: { Name: 'Bus' } },
    QueuePolicy: mayFill('Work', 'Failed'),
    ToWork: rule({ 'detail-type': ['work'] }, { Arn: arn('Work'), DeadLetterConfig: { Arn: arn('Failed') } }),
    ...changes,
  });
  defineNamed(template, references);
  await provisionQueues(template, references, sqs, sqsEngine.endpoint);
  const buses = provisionEventBuses(template, references);
  defineRules(template, references);
  const queueUrlOf = (queueArn: string) =>
    `${sqsEngine.endpoint}/000000000000/${queueArn.slice(queueArn.lastIndexOf(':') + 1)}`;
  const lines: string[] = [];
  const bus = await startBus({
    queues: sqsEngine.queues,
    buses,
    rules: busRules(template, references),
    queueUrlOf,
    refusalOfQueue: queueAccess(template, references),
    log: ({ text }) => lines.push(text),
  });
  onTestFinished(() => bus.stop());
  const client = eventBridgeClient(bus.endpoint);
  const urlOf = (id: string) => String(references.resolve({ Ref: id }));
  return {
    references,
    lines,
    put: (...Entries: PutEventsRequestEntry[]) => client.send(new PutEventsCommand({ Entries })),
    async received(queue: string) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: urlOf(queue),
          MaxNumberOfMessages: 10,
          MessageAttributeNames: ['All'],
          MessageSystemAttributeNames: ['All'],
        }),
      );
      return Messages.map(({ Body = '', Attributes, MessageAttributes = {} }) => ({
        event: JSON.parse(Body),
        group: Attributes?.MessageGroupId,
        attributes: Object.fromEntries(
          Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]),
        ),
      }));
    },
    remove: (queue: string) => sqs.send(new DeleteQueueCommand({ QueueUrl: urlOf(queue) })),
  };
}

const anEntry = (changes: PutEventsRequestEntry = {}): PutEventsRequestEntry => ({
  EventBusName: 'Bus',
  Source: 'test',
  DetailType: 'work',
  Detail: '{"n":1}',
  ...changes,
});

describe('the embedded EventBridge', () => {
  it('has sent an event to the queue of the matching rule, in the envelope, before it answers', async () => {
    const { put, received } = await aBus();

    const Time = new Date('2026-11-21T13:27:44.512Z');
    const { FailedEntryCount, Entries } = await put(anEntry({ Time, Resources: ['arn:aws:s3:::a'] }));

    expect(FailedEntryCount).toBe(0);
    expect(await received('Work')).toEqual([
      {
        attributes: {},
        group: undefined,
        event: {
          version: '0',
          id: Entries?.[0]?.EventId,
          'detail-type': 'work',
          source: 'test',
          account: '000000000000',
          time: '2026-11-21T13:27:44Z',
          region: 'us-east-1',
          resources: ['arn:aws:s3:::a'],
          detail: { n: 1 },
        },
      },
    ]);
  });

  it("sends an event to the dead-letter queue where the queue's policy forbids the queue, and logs it", async () => {
    const { put, received, lines } = await aBus({ QueuePolicy: mayFill('Failed') });
    expect((await put(anEntry())).FailedEntryCount).toBe(0);
    expect(await received('Work')).toEqual([]);
    expect(await received('Failed')).toMatchObject([{ attributes: { ERROR_CODE: 'NO_PERMISSIONS' } }]);
    expect(lines.join('\n')).toMatch(
      /events.amazonaws.com may not perform sqs:SendMessage on \S+Work for \S+ToWork: no statement of the queue's policy/,
    );
  });

  it('drops an event that it may send to neither queue, as AWS does', async () => {
    const policy = mayFill('Work', 'Failed');
    for (const statement of policy.Properties.PolicyDocument.Statement)
      statement.Condition.ArnLike['aws:SourceArn'] = 'arn:aws:events:us-east-1:000000000000:rule/Other/*';
    const { put, received, lines } = await aBus({ QueuePolicy: policy });
    expect((await put(anEntry())).FailedEntryCount).toBe(0);
    expect([...(await received('Work')), ...(await received('Failed'))]).toEqual([]);
    expect(lines.filter((line) => line.includes('may not perform'))).toHaveLength(2);
  });

  it('cannot send to an encrypted queue whose key it may not use', async () => {
    const { lines, put } = await aBus({
      Key: { Type: 'AWS::KMS::Key', Properties: { KeyPolicy: { Statement: [] } } },
      Failed: { Type: 'AWS::SQS::Queue', Properties: { KmsMasterKeyId: arn('Key') } },
      ToWork: rule({ 'detail-type': ['work'] }, { Arn: arn('Failed') }),
    });
    await put(anEntry());
    expect(lines.join('\n')).toContain('may not perform kms:GenerateDataKey on the key of');
  });

  it('accepts an event that no rule matches, and drops it', async () => {
    const { put, received } = await aBus();

    const { FailedEntryCount } = await put(
      anEntry({ DetailType: 'leisure' }),
      anEntry({ Source: 'another' }),
      // Another bus, without rules.
      anEntry({ EventBusName: 'default' }),
    );

    expect(FailedEntryCount).toBe(0);
    expect(await received('Work')).toEqual([]);
  });

  it('matches the detail, and sends an event to every matching rule', async () => {
    const { put, received } = await aBus({
      ToFailed: rule({ detail: { n: [{ numeric: ['>', 1] }] } }, { Arn: arn('Failed') }),
    });

    await put(anEntry(), anEntry({ Detail: '{"n":2}' }));

    const numbers = async (queue: string) =>
      (await received(queue)).map(({ event }) => event.detail.n).sort();
    expect(await numbers('Work')).toEqual([1, 2]);
    expect(await numbers('Failed')).toEqual([2]);
  });

  it('sends an event in the message group that its target names, by a constant or a path', async () => {
    const grouped = (group: string, target: string) =>
      rule({}, { Arn: arn(target), SqsParameters: { MessageGroupId: group } });
    const { put, received } = await aBus({
      ToWork: grouped('$.detail.orgId', 'Work'),
      ToFailed: grouped('work', 'Failed'),
    });
    for (const detail of [{ orgId: 'org_1' }, {}, { orgId: 1 }])
      await put(anEntry({ Detail: JSON.stringify(detail) }));
    const groups = async (queue: string) => (await received(queue)).map(({ group }) => group);
    expect(await groups('Work')).toEqual(['org_1', undefined, undefined]);
    expect(await groups('Failed')).toEqual(['work', 'work', 'work']);
  });

  it('has rules of the default bus, and none that is disabled', async () => {
    const { Properties, Type } = rule({}, { Arn: arn('Failed') });
    const { EventBusName: _, ...ofDefaultBus } = Properties;
    const policy = mayFill('Failed');
    for (const statement of policy.Properties.PolicyDocument.Statement)
      statement.Condition.ArnLike['aws:SourceArn'] =
        'arn:aws:events:us-east-1:000000000000:rule/Test-ToFailed';
    const { put, received } = await aBus({
      QueuePolicy: policy,
      ToWork: { Type, Properties: { ...Properties, State: 'DISABLED' } },
      ToFailed: { Type, Properties: ofDefaultBus },
    });
    await put(anEntry(), anEntry({ EventBusName: 'default' }));
    expect(await received('Work')).toEqual([]);
    expect(await received('Failed')).toHaveLength(1);
  });

  it.each([
    [
      'a target that is no queue',
      rule({}, { Arn: 'arn:aws:lambda:us-east-1:000000000000:function:Work' }),
      'ToWork: the local run does not know the target Target0 of a rule with a pattern, which is not a queue: ',
    ],
    [
      'an unsupported comparison',
      rule({ 'detail-type': [{ wildcard: 't*t' }] }, { Arn: arn('Work') }),
      'wildcard',
    ],
  ])('refuses a rule with %s', async (_, ToWork, message) => {
    await expect(aBus({ ToWork })).rejects.toThrow(message);
  });

  it('answers each entry separately', async () => {
    const { put, received } = await aBus();

    const { FailedEntryCount, Entries } = await put(
      anEntry({ Detail: 'no JSON' }),
      anEntry({ Detail: '[]' }),
      anEntry({ Source: undefined }),
      anEntry({ DetailType: undefined }),
      anEntry({ Detail: undefined }),
      anEntry({ EventBusName: 'nowhere' }),
      anEntry({ EventBusName: 'arn:aws:events:us-east-1:000000000000:event-bus/Bus' }),
    );

    expect(FailedEntryCount).toBe(6);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
      'MalformedDetail',
      'MalformedDetail',
      'InvalidArgument',
      'InvalidArgument',
      'InvalidArgument',
      'ResourceNotFoundException',
      undefined,
    ]);
    expect(await received('Work')).toHaveLength(1);
  });

  it('refuses more than ten entries, none, and too large ones', async () => {
    const { put, received } = await aBus();
    const half = JSON.stringify({ text: 'a'.repeat(131_072) });

    await expect(put(...Array.from({ length: 11 }, () => anEntry()))).rejects.toThrow('1 to 10 members');
    await expect(put()).rejects.toThrow('1 to 10 members');
    await expect(put(anEntry({ Detail: half }), anEntry({ Detail: half }))).rejects.toThrow(
      'Total size of the entries in the request is over the limit',
    );
    expect(await received('Work')).toEqual([]);
  });

  it("accepts an entry and a request of 256 KB, by EventBridge's rule for sizes, and nothing larger", async () => {
    const { put } = await aBus();
    const around = entrySize(anEntry({ Detail: '{"text":""}' }));
    const anEntryOf = (bytes: number) =>
      anEntry({ Detail: JSON.stringify({ text: 'a'.repeat(bytes - around) }) });

    // Its envelope makes it too large for the queue, so it goes to the dead-letter queue, as on AWS.
    expect((await put(anEntryOf(262_144))).Entries?.[0]?.ErrorCode).toBe('InternalFailure');
    await expect(put(anEntryOf(262_145))).rejects.toThrow('over the limit');
    expect((await put(anEntryOf(131_072), anEntryOf(131_072))).FailedEntryCount).toBe(0);
    await expect(put(anEntryOf(131_072), anEntryOf(131_073))).rejects.toThrow('over the limit');
    await expect(put(anEntryOf(131_072), { ...anEntryOf(131_072), Time: new Date() })).rejects.toThrow(
      'over',
    );
  });

  it('sends events that a queue refuses to its dead-letter queue, with the reason', async () => {
    const { put, received, remove } = await aBus();
    await remove('Work');

    const { FailedEntryCount } = await put(anEntry(), anEntry({ Detail: '{"n":2}' }));

    expect(FailedEntryCount).toBe(0);
    const dead = await received('Failed');
    expect(dead.map(({ event }) => event.detail.n).sort()).toEqual([1, 2]);
    expect(dead[0]?.attributes).toEqual({
      RULE_ARN: 'arn:aws:events:us-east-1:000000000000:rule/Bus/Test-ToWork',
      TARGET_ARN: 'arn:aws:sqs:us-east-1:000000000000:Test-Work',
      ERROR_CODE: 'NO_RESOURCE',
      ERROR_MESSAGE: expect.stringContaining('queue'),
    });
  });

  it('refuses only the entry that neither queue accepts', async () => {
    const { put, remove } = await aBus();
    await Promise.all([remove('Work'), remove('Failed')]);

    const { FailedEntryCount, Entries } = await put(anEntry(), anEntry({ DetailType: 'leisure' }));

    expect(FailedEntryCount).toBe(1);
    expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual(['InternalFailure', undefined]);
  });

  it('has its name and ARN in the template, and a rule has both names', async () => {
    const { references } = await aBus();
    expect(
      [{ Ref: 'Bus' }, arn('Bus'), { 'Fn::GetAtt': ['Bus', 'Name'] }, { Ref: 'ToWork' }].map((it) =>
        references.resolve(it),
      ),
    ).toEqual(['Bus', 'arn:aws:events:us-east-1:000000000000:event-bus/Bus', 'Bus', 'Bus|Test-ToWork']);
  });
});
