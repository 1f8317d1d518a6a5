import 'aws-sdk-client-mock-vitest/extend';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it } from 'vitest';
import { dueEvent } from '../../../functions/domain/source-check.ts';
import { workerQueue } from '../../../functions/platform/worker-queue.ts';
import { aSource, NOW } from '../../builders.ts';

it('gives back the events that the queue did not take, and sends each in the turn of its organization', async () => {
  const client = mockClient(SQSClient);
  client
    .on(SendMessageBatchCommand)
    .resolves({ Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false }], Successful: [] });
  const events = Array.from({ length: 3 }, () => dueEvent({ ...aSource(), dueAt: NOW.toISOString() }, NOW));

  const queue = workerQueue(client as unknown as SQSClient, 'https://sqs.example.com/checks');

  expect(await queue.send(events)).toEqual([events[1]]);
  const [{ Entries = [] } = {}] = client
    .commandCalls(SendMessageBatchCommand)
    .map(({ args }) => args[0].input);
  expect(Entries.map(({ MessageGroupId }) => MessageGroupId)).toEqual(events.map(({ orgId }) => orgId));
});
