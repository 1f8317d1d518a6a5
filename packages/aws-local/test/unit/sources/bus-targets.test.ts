import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageBody, sendToTarget } from '../../../src/sources/bus-targets.ts';
import { queuesOfApi } from '../../../src/sources/queues.ts';

describe('the messages of a target', () => {
  it.each([
    ['a constant', 'work', ['work', 'work', 'work']],
    ['what a JSON path finds in the event', '$.detail.orgId', ['org_1', undefined, undefined]],
    ['none where the target names none', undefined, [undefined, undefined, undefined]],
  ])('are in a message group: %s', async (_what, messageGroup, groups) => {
    const client = mockClient(SQSClient);
    client.on(SendMessageBatchCommand).resolves({});
    const queueArn = 'arn:aws:sqs:us-east-1:000000000000:Work';
    const events = [{ orgId: 'org_1' }, {}, { orgId: 1 }].map((detail, index) => ({
      version: '0' as const,
      id: String(index),
      'detail-type': 'work',
      source: 'test',
      account: '000000000000',
      time: '2026-11-21T13:27:44Z',
      region: 'us-east-1',
      resources: [],
      detail,
    }));
    const target = { queueArn, deadLetterArn: undefined, messageGroup };
    const rule = { logicalId: 'Rule', arn: 'rule', bus: 'Bus', matches: () => true, targets: [target] };

    await sendToTarget(events, rule, target, {
      queues: queuesOfApi(client as unknown as SQSClient),
      queueUrlOf: (arn) => arn,
      refusalOfQueue: () => undefined,
      log: () => undefined,
    });

    const sent = client.commandCalls(SendMessageBatchCommand).flatMap(({ args }) => args[0].input.Entries);
    expect(sent.map((entry) => entry?.MessageGroupId)).toEqual(groups);
  });
});

describe('the message of a bus event', () => {
  it('has the same content for any characters, in those that the embedded SQS accepts', () => {
    expect(messageBody({ name: 'Ada 🦊 \uFFFF' })).toBe('{"name":"Ada \\ud83e\\udd8a \\uffff"}');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const body = messageBody({ name });
        expect(JSON.parse(body)).toEqual({ name });
        expect(body).toMatch(/^[\t\n\r\x20-\uD7FF\uE000-\uFFFD]*$/);
      }),
    );
  });
});
