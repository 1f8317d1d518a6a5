import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { DeadLetter } from '../../../functions/events/events.ts';
import { handler as fanOut } from '../../../functions/workers/fan-out.ts';
import { handler as publish } from '../../../functions/workers/publish.ts';
import { anEndpoint, anEvent, aTenant } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { aRecord, capturedOutput, liveOrganizations, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const sqs = mockClient(SQSClient);
const eventBridge = mockClient(EventBridgeClient);
const outbox = outboxStore({ client: DynamoDBClient.prototype, name: 'outbox' });

const RECORDS = 100;
/** Tries of a batch before the test gives up. */
const TRIES = 5;

const events = Array.from({ length: RECORDS }, () => anEvent({ tenant: aTenant() }));
const [failing] = events.slice(9);
const toRecord = (event: (typeof events)[number], index: number) =>
  aRecord(outbox.append(event).write.Put?.Item ?? {}, 100 + index);

/** What a reader of the outbox's stream writes and sends, by the id of its event. */
const READERS = [
  {
    name: 'fan-out',
    handler: fanOut,
    letters: FUNCTION_ENVIRONMENT.DEAD_FAN_OUTS,
    effects: () => [
      ...dynamo.commandCalls(PutCommand).map(({ args: [{ input }] }) => `put ${input.Item?.eventId}`),
      ...sent().flatMap(({ queue, body: { eventId } }) =>
        queue === FUNCTION_ENVIRONMENT.DEAD_FAN_OUTS ? [] : [`sent ${eventId}`],
      ),
    ],
    expected: ['put', 'sent'],
  },
  {
    name: 'publish',
    handler: publish,
    letters: FUNCTION_ENVIRONMENT.DEAD_PUBLICATIONS,
    effects: () =>
      eventBridge
        .commandCalls(PutEventsCommand)
        .flatMap(({ args: [{ input }] }) => input.Entries ?? [])
        .map(({ Detail = '' }) => `published ${JSON.parse(Detail).id}`),
    expected: ['published'],
  },
] as const;

const sent = () =>
  sqs.commandCalls(SendMessageBatchCommand).flatMap(({ args: [{ input }] }) =>
    (input.Entries ?? []).map(({ MessageBody = '', ...entry }) => ({
      ...entry,
      queue: input.QueueUrl,
      body: JSON.parse(MessageBody),
    })),
  );

/** Invokes a function as its event source mapping does: from the first failed record on, again and again. */
async function map(
  handler: (
    event: { Records: DynamoDBRecord[] },
    context: typeof WITH_TIME,
  ) => Promise<DynamoDBBatchResponse>,
  records: DynamoDBRecord[],
): Promise<number> {
  let rest = records;
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const { batchItemFailures } = await handler({ Records: rest }, WITH_TIME);
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const first = rest.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
    if (first === -1) return tries;
    rest = rest.slice(first);
  }
  return TRIES;
}

beforeEach(() => {
  for (const client of [dynamo, sqs, eventBridge]) client.reset();
  capturedOutput();
  dynamo.on(GetCommand).callsFake(liveOrganizations);
  dynamo.on(QueryCommand).callsFake(({ ExpressionAttributeValues }) => ({
    Items: [anEndpoint({ orgId: Object.values(ExpressionAttributeValues).join().split('#')[0] as never })],
  }));
  dynamo.on(PutCommand).callsFake(async ({ Item }) => {
    if (Item.eventId === failing?.id) throw new Error('throttled');
    return {};
  });
  sqs.on(SendMessageBatchCommand).resolves({});
  eventBridge.on(PutEventsCommand).callsFake(({ Entries }: { Entries: PutEventsRequestEntry[] }) => ({
    Entries: Entries.map(({ Detail = '' }) =>
      JSON.parse(Detail).id === failing?.id ? { ErrorCode: 'ThrottlingException' } : { EventId: 'taken' },
    ),
  }));
});

describe.each(READERS)('one failing record among $expected.length of $name', ({ handler, ...reader }) => {
  it('goes to the queue of failed entries at once, and the others are processed once', async () => {
    expect(await map(handler, events.map(toRecord))).toBe(1);

    const effects = reader.effects();
    for (const event of events)
      for (const effect of reader.expected)
        if (event !== failing)
          expect(effects.filter((each) => each === `${effect} ${event.id}`)).toHaveLength(1);
    const letters = sent().filter(({ queue }) => queue === reader.letters);
    expect(letters).toMatchObject([{ MessageGroupId: failing?.orgId }]);
    expect(letters.map(({ body }) => DeadLetter.parse(body))).toEqual([
      { kind: 'entries', keys: [expect.objectContaining({ sk: failing?.id })] },
    ]);
  });

  it('is repeated by the stream when that queue does not take it', async () => {
    sqs
      .on(SendMessageBatchCommand, { QueueUrl: reader.letters })
      .callsFake(({ Entries }) => ({ Failed: Entries.map(({ Id }: { Id: string }) => ({ Id })) }));

    expect(await map(handler, events.map(toRecord))).toBe(TRIES);
  });

  it('is handed over also when all others fail, so that later records never wait', async () => {
    dynamo.on(PutCommand).rejects(new Error('throttled'));
    eventBridge.on(PutEventsCommand).rejects(new Error('throttled'));

    expect(await map(handler, events.map(toRecord))).toBe(1);
    expect(sent().filter(({ queue }) => queue === reader.letters)).toHaveLength(RECORDS);
  });
});
