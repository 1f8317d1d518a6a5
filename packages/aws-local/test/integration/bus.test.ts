import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { awaitAssertion } from '../support/until.ts';
import { aCloud, aPlace, arn, lambda, role } from './a-cloud.ts';

const sdk = JSON.stringify(createRequire(import.meta.url).resolve('@aws-sdk/client-eventbridge'));

/** `put` puts its event on the bus; `hear` reads the rule's queue. */
const handlers = `
import eventBridge from ${sdk};
const bus = new eventBridge.EventBridgeClient({ maxAttempts: 1 });
export const put = async ({ bus: EventBusName = process.env.BUS, type, detail }) => (await bus.send(new eventBridge.PutEventsCommand({
  Entries: [{ EventBusName, Source: 'test', DetailType: type, Detail: JSON.stringify(detail) }],
}))).Entries;
export async function hear({ Records }) {
  for (const { body } of Records) console.log('heard ' + body);
}
`;

const bus = {
  Bus: { Type: 'AWS::Events::EventBus', Properties: { Name: 'Bus' } },
  Other: { Type: 'AWS::Events::EventBus', Properties: { Name: 'Other' } },
  PutRole: role({ Action: 'events:PutEvents', Resource: arn('Bus') }),
  Put: lambda('put', 'PutRole', { BUS: { Ref: 'Bus' } }),
  Heard: { Type: 'AWS::SQS::Queue', Properties: {} },
  HeardPolicy: {
    Type: 'AWS::SQS::QueuePolicy',
    Properties: {
      Queues: [{ Ref: 'Heard' }],
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: {
          Effect: 'Allow',
          Principal: { Service: 'events.amazonaws.com' },
          Action: 'sqs:SendMessage',
          Resource: arn('Heard'),
          Condition: { ArnEquals: { 'aws:SourceArn': arn('Rule') } },
        },
      },
    },
  },
  Rule: {
    Type: 'AWS::Events::Rule',
    Properties: {
      EventBusName: { Ref: 'Bus' },
      EventPattern: { source: ['test'], 'detail-type': ['said'], detail: { role: ['agent'] } },
      State: 'ENABLED',
      Targets: [{ Id: 'Target0', Arn: arn('Heard') }],
    },
  },
  Hear: lambda('hear', 'PlainRole'),
  HeardToFunction: {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: { EventSourceArn: arn('Heard'), FunctionName: { Ref: 'Hear' } },
  },
};

const said = { type: 'said', detail: { role: 'agent', id: 'first' } };

describe('a template with an event bus', () => {
  it('passes an event that a rule matches to the function behind its queue', async () => {
    const { cloud, lines } = await aCloud(aPlace(bus, handlers));
    const heard = () => lines.flatMap((line) => line.match(/heard (\{.*\})$/)?.[1] ?? []);

    expect(await cloud.invoke('Test-Put', { type: 'said', detail: { role: 'user' } })).toEqual([
      { EventId: expect.any(String) },
    ]);
    await cloud.invoke('Test-Put', said);

    await awaitAssertion(() => expect(heard()).toHaveLength(1), 30_000);
    expect(JSON.parse(heard()[0] ?? '')).toMatchObject({
      version: '0',
      source: 'test',
      'detail-type': 'said',
      region: 'us-east-1',
      detail: said.detail,
    });
  });
});
