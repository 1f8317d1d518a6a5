import 'aws-sdk-client-mock-vitest/extend';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { InvocationFailed } from '../../../functions/aws/logger.ts';
import { ENDED, UNREADABLE_ROWS } from '../../../functions/aws/metrics.ts';
import { getLedgerHour } from '../../../functions/delivery/ledger.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/delivery-stream.ts';
import { aDelivery } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb, rowAfter } from '../../support/mocked-dynamodb.ts';
import { aRecord, capturedOutput, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const run = (...Records: DynamoDBRecord[]) => handler({ Records, shardId: 'shardId-1' }, WITH_TIME);
const listUpdates = (table: string) =>
  dynamo
    .commandCalls(UpdateCommand)
    .map(({ args: [{ input }] }) => input)
    .filter(({ TableName }) => TableName === table);

beforeEach(() => {
  dynamo.reset();
  dynamo.on(UpdateCommand).resolves({});
});

describe('delivery stream function', () => {
  it('counts an insert as an added delivery, and a later end as that end', async () => {
    const delivery = aDelivery();
    const ended = { ...delivery, status: 'exhausted', attempts: 8, attemptLog: [] };

    expect(await run(aRecord(delivery, 41), aRecord(ended, 42, 'MODIFY'))).toEqual({ state: {} });

    expect(listUpdates(FUNCTION_ENVIRONMENT.LEDGER_TABLE)).toMatchObject([
      { Key: keys.active(delivery.webhookId, delivery.generation, getLedgerHour(delivery)) },
      {},
    ]);
    const [, addition = {}] = listUpdates(FUNCTION_ENVIRONMENT.LEDGER_TABLE);
    expect(rowAfter(addition)).toMatchObject({
      webhookId: delivery.webhookId,
      owed: 1,
      succeeded: 0,
      exhausted: 1,
      skipped: 0,
      duplicates: 8,
    });
    expect(listUpdates(FUNCTION_ENVIRONMENT.DELIVERIES_TABLE)).toEqual([]);
  });

  it('adds a delivery to the due index that is open at the end of its batch', async () => {
    const delivery = aDelivery();

    await run(aRecord(delivery, 41));

    const [added = {}, ...others] = listUpdates(FUNCTION_ENVIRONMENT.DELIVERIES_TABLE);
    expect(added).toMatchObject({
      Key: keys.delivery(delivery.webhookId, delivery.generation, delivery.id),
    });
    expect(rowAfter(added)).toMatchObject({ dueIn: keys.dueOf('watched', delivery.id) });
    expect(others).toEqual([]);
  });

  it('counts ends by their status, and no other change', async () => {
    const output = capturedOutput();
    const ended = (status: string) => ({ ...aDelivery(), status, attempts: 1 });

    await run(
      aRecord(aDelivery(), 41),
      aRecord(ended('succeeded'), 42, 'MODIFY'),
      aRecord(ended('succeeded'), 43, 'MODIFY'),
      aRecord(ended('skipped'), 44),
    );

    expect(output.metric(ENDED.succeeded)).toBe(2);
    expect(output.metric(ENDED.skipped)).toBe(1);
    expect(output.metric(ENDED.exhausted)).toBeUndefined();
  });

  it('gives up an unreadable record with an error, and continues with its shard', async () => {
    const output = capturedOutput();

    await run(aRecord({ pk: 'x', status: 'lost' }, 41), aRecord(aDelivery(), 42));

    expect(output.lines.filter(({ level }) => level === 'ERROR')).toMatchObject([{ sequence: '41' }]);
    expect(output.metric(UNREADABLE_ROWS)).toBe(1);
    // One write of the active endpoint, and one of its count.
    expect(listUpdates(FUNCTION_ENVIRONMENT.LEDGER_TABLE)).toHaveLength(2);
  });

  it('fails when a write fails, so that the stream repeats the batch', async () => {
    dynamo
      .on(UpdateCommand, { TableName: FUNCTION_ENVIRONMENT.LEDGER_TABLE })
      .rejects(new Error('throttled'));

    await expect(run(aRecord(aDelivery(), 41))).rejects.toThrow(InvocationFailed);
  });
});
