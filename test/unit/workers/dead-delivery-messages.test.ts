import 'aws-sdk-client-mock-vitest/extend';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { DEAD_LETTERS, UNREADABLE_MESSAGES } from '../../../functions/aws/metrics.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/dead-delivery-messages.ts';
import { aDelivery } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, received, refused, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const aMessage = () => toDeliveryMessage(aDelivery());

beforeEach(() => {
  dynamo.reset();
  dynamo.on(UpdateCommand).resolves({});
});

describe('function of dead delivery messages', () => {
  it('adds their deliveries to the due index, and counts them for the alarm', async () => {
    const output = capturedOutput();
    const messages = [aMessage(), aMessage()];

    expect(await handler(received('dead', ...messages), WITH_TIME)).toEqual({ batchItemFailures: [] });

    for (const { webhookId, generation, id } of messages)
      expect(dynamo).toHaveReceivedCommandWith(UpdateCommand, {
        TableName: FUNCTION_ENVIRONMENT.DELIVERIES_TABLE,
        Key: keys.delivery(webhookId, generation, id),
      });
    expect(output.metric(DEAD_LETTERS)).toBe(2);
  });

  it('drops the message of a delivery that has ended or is in the index already', async () => {
    capturedOutput();
    dynamo.on(UpdateCommand).rejects(refused());

    expect(await handler(received('dead', aMessage()), WITH_TIME)).toEqual({ batchItemFailures: [] });
  });

  it('keeps exactly the messages that it could not process', async () => {
    const output = capturedOutput();
    const unlucky = aMessage();
    dynamo
      .on(UpdateCommand, { Key: keys.delivery(unlucky.webhookId, unlucky.generation, unlucky.id) })
      .rejects(new Error('throttled'));

    expect(await handler(received('dead', aMessage(), unlucky, aMessage()), WITH_TIME)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'message-2' }],
    });
    expect(output.logged('ERROR')).toHaveLength(1);
  });

  it('drops and counts unreadable messages', async () => {
    const output = capturedOutput();

    expect(await handler(received('dead', '{', { id: 1 }), WITH_TIME)).toEqual({ batchItemFailures: [] });

    expect(output.metric(UNREADABLE_MESSAGES)).toBe(2);
    expect(output.metric(DEAD_LETTERS)).toBeUndefined();
    expect(dynamo).not.toHaveReceivedAnyCommand();
  });
});
