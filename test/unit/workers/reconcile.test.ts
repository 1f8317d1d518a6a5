import { EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import 'aws-sdk-client-mock-vitest/extend';
import { GetQueueAttributesCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { BACKLOG_AGE, IN_FLIGHT, RECONCILED } from '../../../functions/aws/metrics.ts';
import { type Delivery, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { DUE_SHARDS, keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/reconcile.ts';
import { aDelivery, later, seconds } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, WITH_TIME, WITHOUT_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const sqs = mockClient(SQSClient);

/** Makes one shard of the index return a delivery that was due some seconds ago. */
function holdDue(dueIn: string, delivery: Delivery, lateSeconds: number): void {
  const row = {
    ...keys.delivery(delivery.webhookId, delivery.generation, delivery.id),
    ...toDeliveryMessage(delivery),
    dueIn,
    dueKey: keys.dueKey(delivery.orgId, later(new Date(), -seconds(lateSeconds)).toISOString()),
  };
  dynamo.on(QueryCommand, { ExpressionAttributeValues: { ':v0': dueIn } }, false).resolves({ Items: [row] });
}

beforeEach(() => {
  dynamo.reset();
  sqs.reset();
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(UpdateCommand).resolves({});
  sqs.on(SendMessageBatchCommand).resolves({});
  sqs.on(GetQueueAttributesCommand).resolves({ Attributes: { ApproximateNumberOfMessages: '0' } });
});

describe('reconciler function', () => {
  it('sends parked deliveries to the retry queue, updates the index, and reports the delay', async () => {
    const output = capturedOutput();
    const delivery = aDelivery({ id: newId('dlv', new Date()) });
    holdDue(keys.dueOf('parked', delivery.id), delivery, 90);

    expect(await handler({}, WITH_TIME)).toMatchObject({ resumed: 1, complete: true });

    expect(sqs).toHaveReceivedCommandExactlyOnceWith(SendMessageBatchCommand, {
      QueueUrl: FUNCTION_ENVIRONMENT.RETRY_QUEUE,
    });
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      Key: keys.delivery(delivery.webhookId, delivery.generation, delivery.id),
    });
    expect(output.metric(RECONCILED.resumed)).toBe(1);
    expect(output.metric(RECONCILED.latestSeconds)).toBeGreaterThanOrEqual(90);
    expect(output.metric(BACKLOG_AGE)).toBeGreaterThanOrEqual(90);
    expect(output.logged('INFO')).toHaveLength(1);
  });

  it('ends expired deliveries, and writes the metric of an alarm', async () => {
    const output = capturedOutput();
    const delivery = aDelivery({ id: newId('dlv', later(new Date(), -seconds(EXPIRY_SECONDS + 60))) });
    holdDue(keys.dueOf('watched', delivery.id), delivery, 60);

    expect(await handler({}, WITH_TIME)).toMatchObject({ expired: 1 });

    expect(output.metric(RECONCILED.expired)).toBe(1);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      TableName: FUNCTION_ENVIRONMENT.DELIVERIES_TABLE,
    });
    expect(sqs).not.toHaveReceivedCommand(SendMessageBatchCommand);
  });

  it('reads each shard of both states once when nothing is due, and logs nothing', async () => {
    const output = capturedOutput();

    expect(await handler({}, WITH_TIME)).toMatchObject({ resumed: 0, resent: 0, complete: true });

    expect(dynamo).toHaveReceivedCommandTimes(QueryCommand, 2 * DUE_SHARDS);
    expect(dynamo).not.toHaveReceivedCommand(UpdateCommand);
    expect(output.logged('INFO')).toEqual([]);
    expect(output.metric(RECONCILED.expired)).toBeUndefined();
    expect(output.metric(IN_FLIGHT)).toBeUndefined();
  });

  it('reports the messages in flight of the fullest queue, in percent of the SQS limit', async () => {
    const output = capturedOutput();
    const inFlight = {
      FRESH_QUEUE: '1200',
      RETRY_QUEUE: '60000',
      SLOW_QUEUE: '0',
      STALLED_QUEUE: '7',
    } as const;
    for (const [queue, count] of Object.entries(inFlight))
      sqs
        .on(GetQueueAttributesCommand, { QueueUrl: FUNCTION_ENVIRONMENT[queue as keyof typeof inFlight] })
        .resolves({ Attributes: { ApproximateNumberOfMessagesNotVisible: count } });

    await handler({}, WITH_TIME);

    expect(output.metric(IN_FLIGHT)).toBe(50);
  });

  it("completes although no queue's attributes can be read", async () => {
    const output = capturedOutput();
    sqs.on(GetQueueAttributesCommand).rejects(new Error('out of reach'));

    expect(await handler({}, WITH_TIME)).toMatchObject({ complete: true });

    expect(output.logged('WARN')).toHaveLength(2);
  });

  it('begins no page without enough time', async () => {
    capturedOutput();

    expect(await handler({}, WITHOUT_TIME)).toMatchObject({ complete: false });
    expect(dynamo).not.toHaveReceivedCommand(QueryCommand);
  });
});
