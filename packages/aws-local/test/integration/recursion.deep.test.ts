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

/** A function that sends to its own queue. */
function aLoop(RecursiveLoop: string | undefined, deadLetters: object = {}) {
  const again = lambda('again', 'LoopRole', loopUrl);
  return {
    LoopRole: role({ Action: 'sqs:SendMessage', Resource: arn('Loop') }),
    Loop: { Type: 'AWS::SQS::Queue', Properties: deadLetters },
    Begin: lambda('begin', 'LoopRole', loopUrl),
    Again: { ...again, Properties: { ...again.Properties, ...(RecursiveLoop && { RecursiveLoop }) } },
    LoopToAgain: fromQueue('Loop', 'Again'),
  };
}

const roundsIn = (lines: readonly string[]) =>
  lines.flatMap((line) => line.match(/round (\d+)$/)?.[1] ?? []).map(Number);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('a function whose messages return to it', () => {
  it('is stopped after 16 invocations, and its message goes to the dead-letter queue', async () => {
    const resources = {
      ...aLoop(undefined, {
        RedrivePolicy: { deadLetterTargetArn: arn('LoopDead'), maxReceiveCount: 3 },
      }),
      LoopDead: { Type: 'AWS::SQS::Queue', Properties: {} },
      Hear: lambda('hear', 'PlainRole'),
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

  it('is stopped with Terminate, and its message is dropped without a dead-letter queue', async () => {
    const { cloud, lines } = await aCloud(aPlace(aLoop('Terminate'), handlers));
    await cloud.invoke('Test-Begin', {});
    await awaitAssertion(
      () => expect(lines.join('\n')).toMatch(/recursive loop: .* the message is dropped$/m),
      patience,
    );
    expect(roundsIn(lines)).toEqual(upTo(16));
  });

  it('is not stopped with Allow', async () => {
    const { cloud, lines } = await aCloud(aPlace(aLoop('Allow'), handlers));
    await cloud.invoke('Test-Begin', {});
    await awaitAssertion(() => expect(roundsIn(lines)).toEqual(upTo(20)), patience);
    expect(lines.join('\n')).not.toContain('recursive loop');
  });
});
