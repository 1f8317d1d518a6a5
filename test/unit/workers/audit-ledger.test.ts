import 'aws-sdk-client-mock-vitest/extend';
import { BatchGetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { LEDGER_DIFFERENCE } from '../../../functions/aws/metrics.ts';
import { getHourBefore, NO_COUNTS } from '../../../functions/delivery/ledger.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/audit-ledger.ts';
import { aDelivery, NOW } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, WITH_TIME, WITHOUT_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();

afterEach(() => vi.useRealTimers());
beforeEach(() => {
  // No hour may begin between the test and the function.
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  dynamo.reset();
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(UpdateCommand).resolves({});
});

describe('ledger audit function', () => {
  it('corrects an entry that contradicts the deliveries, and writes the metric of an alarm', async () => {
    const output = capturedOutput();
    const hour = getHourBefore(NOW, 98);
    const delivery = aDelivery({ id: newId('dlv', new Date(hour)), status: 'succeeded', terminalAt: hour });
    const key = keys.ledger(delivery.webhookId, 0, hour);
    const entry = { ...key, ...NO_COUNTS, owed: 1, webhookId: delivery.webhookId, generation: 0, hour };
    const partition = keys.delivery(delivery.webhookId, 0, delivery.id).pk;
    const active = keys.active(delivery.webhookId, 0, hour);
    dynamo
      .on(QueryCommand, { ExpressionAttributeValues: { ':v0': active.pk } })
      .resolves({ Items: [{ ...active, webhookId: delivery.webhookId, generation: 0 }] });
    dynamo.on(BatchGetCommand).callsFake(({ RequestItems: { ledger } }) => ({
      Responses: { ledger: ledger.Keys.some(({ sk }: typeof key) => sk === key.sk) ? [entry] : [] },
    }));
    dynamo
      .on(QueryCommand, { ExpressionAttributeValues: { ':v0': partition } }, false)
      .resolves({ Items: [delivery] });

    expect(await handler({}, WITH_TIME)).toEqual({ entries: 1, open: 0, differing: 1, complete: true });

    expect(output.metric(LEDGER_DIFFERENCE)).toBe(1);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      TableName: FUNCTION_ENVIRONMENT.LEDGER_TABLE,
      Key: key,
    });
  });

  it('writes no difference metric when there is none', async () => {
    const output = capturedOutput();

    await handler({}, WITH_TIME);

    expect(output.metric(LEDGER_DIFFERENCE)).toBeUndefined();
  });

  it('begins no page without enough time', async () => {
    capturedOutput();

    expect(await handler({}, WITHOUT_TIME)).toMatchObject({ entries: 0, complete: false });
    expect(dynamo).not.toHaveReceivedCommand(QueryCommand);
  });
});
