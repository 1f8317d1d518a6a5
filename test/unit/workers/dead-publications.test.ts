import { EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import 'aws-sdk-client-mock-vitest/extend';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { ABANDONED_ENTRIES } from '../../../functions/aws/metrics.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { createNotice } from '../../../functions/events/bus.ts';
import { handler } from '../../../functions/workers/dead-publications.ts';
import { anEvent, aTenant, later, NOW, seconds } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, imageOf, received, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const streams = mockClient(DynamoDBStreamsClient);
const sqs = mockClient(SQSClient);
const eventBridge = mockClient(EventBridgeClient);

const tenant = aTenant();
const outbox = outboxStore({ client: DynamoDBClient.prototype, name: 'outbox' });
const eventRow = (now = new Date()) => outbox.append(anEvent({ tenant, now })).write.Put?.Item ?? {};
/** A row whose key is no id, so its age cannot be parsed from it. */
function noticeRow(now = new Date()) {
  const sourceId = newId('src', NOW);
  const notice = createNotice('source.deleted', `${sourceId}#deleted`, { sourceId }, { tenant, now });
  return outbox.appendNotice(notice).write.Put?.Item ?? {};
}
const DISCARDED = {
  DDBStreamBatchInfo: {
    shardId: 'shardId-1',
    startSequenceNumber: '1',
    endSequenceNumber: '2',
    batchSize: 2,
    streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/outbox/stream/2',
  },
};
const DONE = { batchItemFailures: [] };

/** Makes the stream return these rows, numbered from 1. */
const streaming = (...rows: Record<string, unknown>[]) =>
  streams.on(GetRecordsCommand).resolves({
    Records: rows.map((row, index) => ({
      eventName: 'INSERT' as const,
      dynamodb: { SequenceNumber: String(index + 1), NewImage: imageOf(row) },
    })),
  });
const keyOf = ({ pk, sk }: Record<string, unknown>) => ({ pk, sk });
const holding = (...rows: Record<string, unknown>[]) => {
  for (const row of rows) dynamo.on(GetCommand, { Key: keyOf(row) }).resolves({ Item: row });
};
const run = (body: unknown) => handler(received('dead-publications', body), WITH_TIME);
const refusing = () => eventBridge.on(PutEventsCommand).rejects(new Error('out of reach'));
/** The ids of the events that were put on the bus. */
const put = () =>
  eventBridge
    .commandCalls(PutEventsCommand)
    .flatMap(({ args: [{ input }] }) =>
      (input.Entries ?? []).map(({ Detail = '' }) => JSON.parse(Detail).id),
    );
/** The letters that were sent. */
const postponed = () =>
  sqs
    .commandCalls(SendMessageBatchCommand, { QueueUrl: FUNCTION_ENVIRONMENT.DEAD_PUBLICATIONS })
    .flatMap(({ args: [{ input }] }) => input.Entries ?? [])
    .map((entry) => ({ ...entry, MessageBody: JSON.parse(entry.MessageBody ?? '') }));

beforeEach(() => {
  for (const client of [dynamo, streams, sqs, eventBridge]) client.reset();
  dynamo.on(GetCommand).resolves({});
  streams.on(GetShardIteratorCommand).resolves({ ShardIterator: 'iterator' });
  sqs.on(ChangeMessageVisibilityCommand).resolves({});
  sqs.on(SendMessageBatchCommand).resolves({});
  eventBridge
    .on(PutEventsCommand)
    .callsFake(({ Entries }) => ({ Entries: Entries.map(() => ({ EventId: 'taken' })) }));
});

describe('function of failed publications', () => {
  it('reads the records that Lambda names, and puts them on the bus', async () => {
    const rows = [eventRow(), noticeRow()];
    streaming(...rows);

    expect(await run(DISCARDED)).toEqual(DONE);

    expect(put()).toEqual(rows.map(({ id }) => id));
    expect(postponed()).toEqual([]);
  });

  it('sends the keys of refused entries to its queue, and reads the entries by them later', async () => {
    capturedOutput();
    const rows = [eventRow(), noticeRow()];
    streaming(...rows);
    refusing();

    expect(await run(DISCARDED)).toEqual(DONE);

    const [note] = postponed();
    expect(note).toEqual({
      Id: '0',
      MessageGroupId: tenant.orgId,
      DelaySeconds: 5,
      MessageBody: { kind: 'entries', keys: rows.map(keyOf) },
    });
    holding(...rows);
    eventBridge.reset();
    eventBridge.on(PutEventsCommand).resolves({ Entries: rows.map(() => ({ EventId: 'taken' })) });

    expect(await run(note?.MessageBody)).toEqual(DONE);
    expect(put()).toEqual(rows.map(({ id }) => id));
  });

  it('gives up entries that the bus has refused for three days, with any key', async () => {
    const output = capturedOutput();
    const old = later(new Date(), -seconds(EXPIRY_SECONDS + 60));
    const rows = [eventRow(old), noticeRow(old), eventRow(), noticeRow()];
    holding(...rows);
    refusing();

    expect(await run({ kind: 'entries', keys: rows.map(keyOf) })).toEqual(DONE);

    expect(output.metric(ABANDONED_ENTRIES)).toBe(2);
    expect(postponed().map(({ MessageBody }) => MessageBody.keys)).toEqual([rows.slice(2).map(keyOf)]);
  });

  it('keeps a message that it cannot process now', async () => {
    capturedOutput();
    streams.on(GetShardIteratorCommand).rejects(new Error('throttled'));

    expect(await run(DISCARDED)).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] });
  });
});
