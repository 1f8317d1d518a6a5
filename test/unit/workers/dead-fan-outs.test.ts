import 'aws-sdk-client-mock-vitest/extend';
import {
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { EXPIRY_SECONDS } from '../../../functions/domain/due.ts';
import type { OutboxEvent } from '../../../functions/domain/events.ts';
import { ABANDONED_ENTRIES } from '../../../functions/platform/metric-names.ts';
import { keys } from '../../../functions/store/keys.ts';
import { handler } from '../../../functions/workers/dead-fan-outs.ts';
import { anEndpoint, anEvent, aTenant, later, seconds } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { capturedOutput, imageOf, liveOrganizations, received, WITH_TIME } from './a-worker.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const streams = mockClient(DynamoDBStreamsClient);
const sqs = mockClient(SQSClient);

const tenant = aTenant();
const recentEvent = () => anEvent({ tenant, now: new Date() });
/** What Lambda sends to a failure destination, of what the function needs. */
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

/** Makes the stream show these rows, numbered from 1. */
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
/** What was left for later. */
const postponed = () =>
  sqs.commandCalls(SendMessageCommand).map(({ args: [{ input }] }) => ({
    ...input,
    MessageBody: JSON.parse(input.MessageBody ?? ''),
  }));

beforeEach(() => {
  for (const client of [dynamo, streams, sqs]) client.reset();
  dynamo.on(QueryCommand).resolves({ Items: [anEndpoint({ orgId: tenant.orgId })] });
  dynamo.on(PutCommand).resolves({});
  dynamo.on(GetCommand).callsFake(liveOrganizations);
  streams.on(GetShardIteratorCommand).resolves({ ShardIterator: 'iterator' });
  sqs.on(SendMessageBatchCommand).resolves({});
  sqs.on(SendMessageCommand).resolves({});
});

describe('the function that takes what the stream of the fan-out gave up', () => {
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

  it('notes by their keys those that fail again, for as long as SQS holds a message back', async () => {
    capturedOutput();
    const events = [recentEvent(), recentEvent()];
    streaming(...events);
    dynamo.on(PutCommand).rejects(new Error('throttled'));

    expect(await run(DISCARDED)).toEqual(DONE);

    expect(postponed()).toEqual([
      {
        QueueUrl: FUNCTION_ENVIRONMENT.DEAD_FAN_OUTS,
        DelaySeconds: 900,
        MessageBody: { kind: 'entries', keys: events.map((event) => keys.event(event, event.id)) },
      },
    ]);
  });

  it('finds entries that it noted in the outbox, and understands its own notes', async () => {
    capturedOutput();
    const event = recentEvent();
    streaming(event, recentEvent());
    dynamo.on(PutCommand).rejectsOnce(new Error('throttled')).resolves({});
    await run(DISCARDED);
    const [note] = postponed();
    holding(event);
    dynamo.resetHistory();

    expect(await run(note?.MessageBody)).toEqual(DONE);

    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(GetCommand, {
      TableName: FUNCTION_ENVIRONMENT.OUTBOX_TABLE,
      ConsistentRead: true,
    });
    expect(dynamo).toHaveReceivedCommandTimes(PutCommand, 1);
  });

  it('gives up loudly what the stream has forgotten', async () => {
    const output = capturedOutput();
    streams
      .on(GetRecordsCommand)
      .rejects(new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} }));

    expect(await run(DISCARDED)).toEqual(DONE);

    expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
    expect(output.logged('ERROR')).toHaveLength(1);
  });

  it('gives up loudly a record that can be read by nobody, and deals with the others', async () => {
    const output = capturedOutput();
    streaming({ pk: 'evt_1' }, recentEvent());

    expect(await run(DISCARDED)).toEqual(DONE);

    expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
    expect(dynamo).toHaveReceivedCommandTimes(PutCommand, 1);
  });

  it('gives up loudly an entry that nothing could be done for in days', async () => {
    const output = capturedOutput();
    const event = anEvent({ tenant, now: later(new Date(), -seconds(EXPIRY_SECONDS + 60)) });
    holding(event);
    dynamo.on(PutCommand).rejects(new Error('throttled'));

    expect(await run({ kind: 'entries', keys: [keys.event(event, event.id)] })).toEqual(DONE);

    expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
    expect(postponed()).toEqual([]);
  });

  it('keeps a letter that it can do nothing for now', async () => {
    const output = capturedOutput();
    streams.on(GetShardIteratorCommand).rejects(new Error('throttled'));

    expect(await run(DISCARDED)).toEqual(KEPT);
    expect(output.logged('ERROR')).toHaveLength(1);
  });

  it.each(['{', {}, { kind: 'entries' }, { kind: 'records', records: {} }])(
    'gives up loudly a letter that it does not understand: %j',
    async (body) => {
      const output = capturedOutput();

      expect(await run(body)).toEqual(DONE);

      expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
      expect(output.logged('ERROR')).toHaveLength(1);
    },
  );
});
