import 'aws-sdk-client-mock-vitest/extend';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it } from 'vitest';
import { workerQueue } from '../../../functions/delivery/queues.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { buildDueEvent } from '../../../functions/knowledge/sources.ts';
import { aBusEvent, aSource, NOW } from '../../builders.ts';

it('returns the events that the queue refused, and groups each by its organization', async () => {
  const client = mockClient(SQSClient);
  client
    .on(SendMessageBatchCommand)
    .resolves({ Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false }], Successful: [] });
  const events = Array.from({ length: 3 }, () =>
    buildDueEvent({ ...aSource(), dueAt: NOW.toISOString() }, NOW),
  );

  const queue = workerQueue(client as unknown as SQSClient, 'https://sqs.example.com/checks');

  expect(await queue.send(events)).toMatchObject([{ item: events[1], error: { code: 'InternalError' } }]);
  const [{ Entries = [] } = {}] = client
    .commandCalls(SendMessageBatchCommand)
    .map(({ args }) => args[0].input);
  expect(Entries.map(({ MessageGroupId }) => MessageGroupId)).toEqual(events.map(({ orgId }) => orgId));
});

it('sends requests of at most ten messages and fewer bytes than SQS permits', async () => {
  const client = mockClient(SQSClient);
  client.on(SendMessageBatchCommand).callsFake(({ Entries }: { Entries: { MessageBody: string }[] }) => {
    const bytes = Entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
    if (bytes > 262_144) throw Object.assign(new Error('too long'), { name: 'BatchRequestTooLong' });
    return { Failed: [] };
  });
  const queue = workerQueue(client as unknown as SQSClient, 'https://sqs.example.com/checks');
  const large = (): BusEvent => aBusEvent({ data: { text: 'ö'.repeat(20_000) } });

  expect(await queue.send(Array.from({ length: 12 }, large))).toEqual([]);
  expect(
    client.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input.Entries?.length),
  ).toEqual([5, 5, 2]);

  client.resetHistory();
  expect(await queue.send(Array.from({ length: 12 }, () => aBusEvent()))).toEqual([]);
  expect(client.commandCalls(SendMessageBatchCommand)).toHaveLength(2);
});
