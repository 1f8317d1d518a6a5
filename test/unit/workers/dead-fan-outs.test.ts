import { EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import 'aws-sdk-client-mock-vitest/extend';
import {
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { ABANDONED_ENTRIES } from '../../../functions/aws/metrics.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/dead-fan-outs.ts';
import { anEndpoint, anEvent, aTenant, later, seconds } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, imageOf, liveOrganizations, received, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const streams = mockClient(DynamoDBStreamsClient);
const sqs = mockClient(SQSClient);

const tenant = aTenant();
const recentEvent = () => anEvent({ tenant, now: new Date() });
/** The fields that the function needs of the message that Lambda sends to a failure destination. */
const DISCARDED = {
  requestContext: { condition: 'RetryAttemptsExhausted', approximateInvokeCount: 101 },
  DDBStreamBatchInfo: {
    shardId: 'shardId-1',
    startSequenceNumber: '1',
    endSequenceNumber: '2',
    batchSize: 2,
    streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/outbox/stream/1',
  },
};
const DONE = { batchItemFailures: [] };
const KEPT = { batchItemFailures: [{ itemIdentifier: 'message-1' }] };

/** Makes the stream return these rows, numbered from 1. */
const streaming = (...rows: Record<string, unknown>[]) =>
  streams.on(GetRecordsCommand).resolves({
    Records: rows.map((row, index) => ({
      eventName: 'INSERT' as const,
      dynamodb: { SequenceNumber: String(index + 1), NewImage: imageOf(row) },
    })),
  });
const holding = (event: OutboxEvent) =>
  dynamo
    .on(GetCommand, { Key: keys.event(event, event.id) })
    .resolves({ Item: { ...keys.event(event, event.id), ...event } });
const run = (body: unknown) => handler(received('dead-fan-outs', body), WITH_TIME);
/** The letters that were sent. */
const postponed = () =>
  sqs
    .commandCalls(SendMessageBatchCommand, { QueueUrl: FUNCTION_ENVIRONMENT.DEAD_FAN_OUTS })
    .flatMap(({ args: [{ input }] }) => input.Entries ?? [])
    .map((entry) => ({ ...entry, MessageBody: JSON.parse(entry.MessageBody ?? '') }));

beforeEach(() => {
  for (const client of [dynamo, streams, sqs]) client.reset();
  dynamo.on(QueryCommand).resolves({ Items: [anEndpoint({ orgId: tenant.orgId })] });
  dynamo.on(PutCommand).resolves({});
  dynamo.on(GetCommand).callsFake(liveOrganizations);
  streams.on(GetShardIteratorCommand).resolves({ ShardIterator: 'iterator' });
  sqs.on(SendMessageBatchCommand).resolves({});
  sqs.on(ChangeMessageVisibilityCommand).resolves({});
});

describe('function of failed fan-outs', () => {
  it('reads the records that Lambda names, and fans them out', async () => {
    const events = [recentEvent(), recentEvent()];
    streaming(...events);

    expect(await run(DISCARDED)).toEqual(DONE);

    expect(streams).toHaveReceivedCommandExactlyOnceWith(GetShardIteratorCommand, {
      StreamArn: DISCARDED.DDBStreamBatchInfo.streamArn,
      ShardId: 'shardId-1',
      ShardIteratorType: 'AT_SEQUENCE_NUMBER',
      SequenceNumber: '1',
    });
    expect(dynamo).toHaveReceivedCommandTimes(PutCommand, 2);
    expect(sqs).toHaveReceivedCommandExactlyOnceWith(SendMessageBatchCommand, {
      QueueUrl: FUNCTION_ENVIRONMENT.FRESH_QUEUE,
    });
    expect(postponed()).toEqual([]);
  });

  it('sends the keys of those that fail again to its queue, for a retry seconds later', async () => {
    capturedOutput();
    const events = [recentEvent(), recentEvent()];
    streaming(...events);
    dynamo.on(PutCommand).rejects(new Error('throttled'));

    expect(await run(DISCARDED)).toEqual(DONE);

    expect(postponed()).toEqual([
      {
        Id: '0',
        MessageGroupId: tenant.orgId,
        DelaySeconds: 5,
        MessageBody: { kind: 'entries', keys: events.map((event) => keys.event(event, event.id)) },
      },
    ]);
  });

  it('reads entries by the keys that it has sent itself', async () => {
    capturedOutput();
    const event = recentEvent();
    streaming(event, recentEvent());
    dynamo.on(PutCommand).rejectsOnce(new Error('throttled')).resolves({});
    await run(DISCARDED);
    const [note] = postponed();
    holding(event);
    dynamo.on(PutCommand).resolves({});
    dynamo.resetHistory();

    expect(await run(note?.MessageBody)).toEqual(DONE);

    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(GetCommand, {
      TableName: FUNCTION_ENVIRONMENT.OUTBOX_TABLE,
      ConsistentRead: true,
    });
    expect(dynamo).toHaveReceivedCommandTimes(PutCommand, 1);
  });

  it('gives up records that the stream has dropped, with an error', async () => {
    const output = capturedOutput();
    streams
      .on(GetRecordsCommand)
      .rejects(new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} }));

    expect(await run(DISCARDED)).toEqual(DONE);

    expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
    expect(output.logged('ERROR')).toHaveLength(1);
  });

  it('gives up an unreadable record with an error, and processes the others', async () => {
    const output = capturedOutput();
    streaming({ pk: 'evt_1' }, recentEvent());

    expect(await run(DISCARDED)).toEqual(DONE);

    expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
    expect(dynamo).toHaveReceivedCommandTimes(PutCommand, 1);
  });

  it('gives up an entry that is three days old with an error', async () => {
    const output = capturedOutput();
    const event = anEvent({ tenant, now: later(new Date(), -seconds(EXPIRY_SECONDS + 60)) });
    holding(event);
    dynamo.on(PutCommand).rejects(new Error('throttled'));

    expect(await run({ kind: 'entries', keys: [keys.event(event, event.id)] })).toEqual(DONE);

    expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
    expect(postponed()).toEqual([]);
  });

  it('keeps a message that it cannot process now', async () => {
    const output = capturedOutput();
    streams.on(GetShardIteratorCommand).rejects(new Error('throttled'));

    expect(await run(DISCARDED)).toEqual(KEPT);
    expect(output.logged('ERROR')).toHaveLength(1);
  });

  it.each(['{', {}, { kind: 'entries' }, { kind: 'records', records: {} }])(
    'gives up an unreadable message with an error: %j',
    async (body) => {
      const output = capturedOutput();

      expect(await run(body)).toEqual(DONE);

      expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
      expect(output.logged('ERROR')).toHaveLength(1);
    },
  );
});
