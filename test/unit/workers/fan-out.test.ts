import 'aws-sdk-client-mock-vitest/extend';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { ABANDONED_ENTRIES } from '../../../functions/aws/metrics.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { createNotice } from '../../../functions/events/bus.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/fan-out.ts';
import { aDelivery, anEndpoint, anEvent, aTenant, NOW } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { aRecord, capturedOutput, liveOrganizations, refused, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const sqs = mockClient(SQSClient);
const tenant = aTenant();
const ours = (changes: Partial<Endpoint> = {}) => anEndpoint({ orgId: tenant.orgId, ...changes });
const outbox = outboxStore({ client: DynamoDBClient.prototype, name: 'outbox' });
const toRow = (event = anEvent({ tenant })) => outbox.append(event).write.Put?.Item ?? {};

/** The sent messages, with the last path segment of their queue's URL. */
const sent = () =>
  sqs.commandCalls(SendMessageBatchCommand).flatMap(({ args: [{ input }] }) =>
    (input.Entries ?? []).map(({ MessageBody = '' }) => ({
      queue: input.QueueUrl?.split('/').at(-1),
      message: JSON.parse(MessageBody),
    })),
  );
const run = (...rows: Record<string, unknown>[]) =>
  handler({ Records: rows.map((row, index) => aRecord(row, 100 + index)) }, WITH_TIME);

beforeEach(() => {
  dynamo.reset();
  sqs.reset();
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(PutCommand).resolves({});
  dynamo.on(GetCommand).callsFake(liveOrganizations);
  sqs.on(SendMessageBatchCommand).resolves({});
});

describe('fan-out function', () => {
  it('adds a delivery for each subscriber, and sends its message to the queue of the endpoint', async () => {
    const slow = ours({ pace: { is: 'slow', until: '2100-01-01T00:00:00.000Z' } });
    const stalled = ours({ pace: { is: 'stalled', until: '2100-01-01T00:00:00.000Z' } });
    const quick = ours();
    dynamo.on(QueryCommand).resolves({ Items: [quick, slow, stalled] });

    expect(await run(toRow())).toEqual({ batchItemFailures: [] });

    expect(dynamo).toHaveReceivedCommandTimes(PutCommand, 3);
    expect(dynamo).toHaveReceivedCommandWith(PutCommand, {
      TableName: FUNCTION_ENVIRONMENT.DELIVERIES_TABLE,
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    expect(sent()).toEqual(
      expect.arrayContaining([
        { queue: 'fresh', message: expect.objectContaining({ webhookId: quick.id }) },
        { queue: 'slow', message: expect.objectContaining({ webhookId: slow.id }) },
        { queue: 'stalled', message: expect.objectContaining({ webhookId: stalled.id }) },
      ]),
    );
  });

  it('sends the message of a delivery that an earlier run added, perhaps without a message', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [ours()] });
    dynamo.on(PutCommand).rejects(refused());

    expect(await run(toRow())).toEqual({ batchItemFailures: [] });
    expect(sent()).toHaveLength(1);
  });

  it('sends the message of a redelivery', async () => {
    const message = toDeliveryMessage(aDelivery());

    await run(outbox.appendRedelivery(message).write.Put?.Item ?? {});

    expect(sent()).toEqual([{ queue: 'fresh', message }]);
  });

  it('ignores outbox entries of other readers', async () => {
    const output = capturedOutput();
    const sourceId = newId('src', NOW);
    const notice = outbox.appendNotice(
      createNotice('source.check', 'id', { sourceId }, { tenant, now: NOW }),
    );

    expect(await run(notice.write.Put?.Item ?? {})).toEqual({ batchItemFailures: [] });

    expect(sent()).toEqual([]);
    expect(output.metric(ABANDONED_ENTRIES)).toBeUndefined();
  });

  it('gives up an unreadable record with an error, and continues with the next ones', async () => {
    const output = capturedOutput();
    dynamo.on(QueryCommand).resolves({ Items: [ours()] });
    const damaged = { ...toRow(), body: undefined };

    expect(await run(damaged, {}, toRow())).toEqual({ batchItemFailures: [] });

    expect(sent()).toHaveLength(1);
    expect(output.metric(ABANDONED_ENTRIES)).toBe(2);
    expect(output.logged('ERROR')).toHaveLength(2);
  });

  it('sends an entry whose message was refused to the queue of failed entries', async () => {
    capturedOutput();
    const [lucky, unlucky] = [anEvent({ tenant }), anEvent({ tenant })];
    dynamo.on(QueryCommand).resolves({ Items: [ours()] });
    sqs.on(SendMessageBatchCommand).callsFake(({ Entries = [] }) => ({
      Failed: Entries.flatMap(({ Id, MessageBody }: { Id: string; MessageBody: string }) =>
        JSON.parse(MessageBody).eventId === unlucky.id ? [{ Id, Code: 'Throttled', SenderFault: false }] : [],
      ),
    }));

    expect(await run(toRow(lucky), toRow(unlucky))).toEqual({ batchItemFailures: [] });
    expect(sent().filter(({ queue }) => queue === 'dead-fan-outs')).toMatchObject([
      { message: { keys: [keys.event(unlucky, unlucky.id)] } },
    ]);
  });
});
