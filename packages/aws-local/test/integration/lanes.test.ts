import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { awaitAssertion } from '../support/until.ts';
import { aCloud, aPlace, arn, lambda, role } from './a-cloud.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** `patient` waits for a file that a message names; `send` puts messages into a queue. */
const handlers = `
import { existsSync } from 'node:fs';
export async function patient({ Records }) {
  for (const { body } of Records) {
    const { name, gate } = JSON.parse(body);
    console.log('began ' + name);
    while (gate && !existsSync(gate)) await new Promise((done) => setTimeout(done, 20));
    console.log('ended ' + name);
  }
}
export async function send({ queue, messages }) {
  for (const message of messages)
    await sender.send(new sqs.SendMessageCommand({ QueueUrl: process.env[queue], MessageBody: JSON.stringify(message) }));
}
const sender = new sqs.SQSClient({});
`;

const mapping = (queue: string) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: {
    EventSourceArn: arn(queue),
    FunctionName: { Ref: 'Patient' },
    BatchSize: 1,
    ScalingConfig: { MaximumConcurrency: 2 },
  },
});

const resources = {
  Slow: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 60 } },
  Fresh: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 60 } },
  SendRole: role({ Action: 'sqs:SendMessage', Resource: [arn('Slow'), arn('Fresh')] }),
  Send: lambda('send', 'SendRole', { SLOW: { Ref: 'Slow' }, FRESH: { Ref: 'Fresh' } }),
  Patient: lambda('patient', 'PlainRole'),
  SlowToPatient: mapping('Slow'),
  FreshToPatient: mapping('Fresh'),
};

it('a function receives from one queue while all its invocations for another one hang', async () => {
  const gate = join(temporaryDirectory(), 'open');
  const { cloud, lines } = await aCloud(aPlace(resources, handlers));
  const seen = (word: string, names: readonly string[]) =>
    awaitAssertion(() =>
      expect(lines.filter((line) => names.some((name) => line.endsWith(`${word} ${name}`)))).toHaveLength(
        names.length,
      ),
    );
  const slow = [1, 2, 3, 4].map((number) => `slow-${number}`);
  const fresh = [1, 2, 3, 4, 5, 6].map((number) => `fresh-${number}`);

  await cloud.invoke('Test-Send', { queue: 'SLOW', messages: slow.map((name) => ({ name, gate })) });
  await awaitAssertion(() => expect(lines.filter((line) => line.includes('began slow'))).toHaveLength(2));
  await cloud.invoke('Test-Send', { queue: 'FRESH', messages: fresh.map((name) => ({ name })) });
  await seen('ended', fresh);
  expect(lines.filter((line) => line.includes('ended slow'))).toEqual([]);
  expect(lines.filter((line) => line.includes('began slow'))).toHaveLength(2);

  writeFileSync(gate, '');
  await seen('ended', slow);
});
