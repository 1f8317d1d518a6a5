import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { awaitAssertion } from '../support/until.ts';
import { aCloud, aPlace, arn, lambda, role } from './a-cloud.ts';

const sdk = JSON.stringify(createRequire(import.meta.url).resolve('@aws-sdk/client-sqs'));

/**
 * `begin` sends the first message; `again` resends each message that it gets, up to twenty times; `hear`
 * receives dead letters.
 */
const handlers = `
import loop from ${sdk};
const loopClient = new loop.SQSClient({});
const sendRound = (round) => loopClient.send(new loop.SendMessageBatchCommand({
  QueueUrl: process.env.LOOP_URL,
  Entries: [{ Id: 'only', MessageBody: String(round) }],
}));
export const begin = () => sendRound(1);
export async function again({ Records: [{ body }] }) {
  console.log('round ' + body);
  if (Number(body) < 20) await sendRound(Number(body) + 1);
}
export async function hear({ Records: [{ body }] }) {
  console.log('heard ' + body);
}
`;

const patience = 50_000;
const loopUrl = { LOOP_URL: { Ref: 'Loop' } };
const fromQueue = (queue: string, fn: string) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: { EventSourceArn: arn(queue), FunctionName: { Ref: fn }, BatchSize: 1 },
});

const roundsIn = (lines: readonly string[]) =>
  lines.flatMap((line) => line.match(/round (\d+)$/)?.[1] ?? []).map(Number);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('a function whose messages return to it', () => {
  it('is stopped after 16 invocations, and its message goes to the dead-letter queue', async () => {
    const resources = {
      LoopRole: role({ Action: 'sqs:SendMessage', Resource: arn('Loop') }),
      Loop: {
        Type: 'AWS::SQS::Queue',
        Properties: { RedrivePolicy: { deadLetterTargetArn: arn('LoopDead'), maxReceiveCount: 3 } },
      },
      LoopDead: { Type: 'AWS::SQS::Queue', Properties: {} },
      Begin: lambda('begin', 'LoopRole', loopUrl),
      Again: lambda('again', 'LoopRole', loopUrl),
      Hear: lambda('hear', 'PlainRole'),
      LoopToAgain: fromQueue('Loop', 'Again'),
      DeadToHear: fromQueue('LoopDead', 'Hear'),
    };
    const { cloud, lines } = await aCloud(aPlace(resources, handlers));
    await cloud.invoke('Test-Begin', {});
    await awaitAssertion(() => expect(lines.join('\n')).toMatch(/heard 17$/m), patience);
    expect(roundsIn(lines)).toEqual(upTo(16));
    expect(lines.join('\n')).toMatch(
      /recursive loop: Test-Again was invoked 16 times .* moved to arn:aws:sqs:\S+LoopDead$/m,
    );
  });
});
