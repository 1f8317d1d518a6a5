import { OF_SANDBOX_INDEX } from '../../../functions/tenancy/purge.ts';
import 'aws-sdk-client-mock-vitest/extend';
import { BatchWriteCommand, DeleteCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { PURGED } from '../../../functions/aws/metrics.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/purge.ts';
import { aTenant } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const sandbox = { ...aTenant(), generation: 1 };
const LONG_AGO = '2026-01-01T00:00:00.000Z';
const TABLES = [
  FUNCTION_ENVIRONMENT.OUTBOX_TABLE,
  FUNCTION_ENVIRONMENT.DELIVERIES_TABLE,
  FUNCTION_ENVIRONMENT.LEDGER_TABLE,
  FUNCTION_ENVIRONMENT.SERVICE_TABLE,
];

/** Makes the tables return a purge order, and each index these rows once. */
function ordered(rows: Record<string, unknown>[]) {
  const order = keys.purge(sandbox);
  dynamo
    .on(QueryCommand, { ExpressionAttributeValues: { ':v0': order.pk } })
    .resolves({ Items: [{ ...order, ...sandbox, requestedAt: LONG_AGO, deleted: 0 }] });
  for (const TableName of TABLES)
    dynamo
      .on(QueryCommand, { TableName, IndexName: OF_SANDBOX_INDEX })
      .resolvesOnce({ Items: rows })
      .resolves({ Items: [] });
}

beforeEach(() => {
  dynamo.reset();
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(UpdateCommand).resolves({});
  dynamo.on(DeleteCommand).resolves({});
  dynamo.on(BatchWriteCommand).resolves({});
});

describe('sandbox purge function', () => {
  it('deletes the rows of every table by their keys, closes the order, and reports the counts', async () => {
    const output = capturedOutput();
    ordered([{ pk: 'a', sk: 'b', ofSandbox: 'the index has it' }]);

    expect(await handler({}, WITH_TIME)).toEqual({ deleted: 4, closed: 1, open: 0, oldestSeconds: 0 });

    const deleted = dynamo
      .commandCalls(BatchWriteCommand)
      .map(({ args: [{ input }] }) => Object.entries(input.RequestItems ?? {}));
    expect(deleted).toEqual(
      TABLES.map((table) => [[table, [{ DeleteRequest: { Key: { pk: 'a', sk: 'b' } } }]]]),
    );
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(DeleteCommand, { Key: keys.purge(sandbox) });
    expect(output.metric(PURGED.deleted)).toBe(4);
    expect(output.metric(PURGED.open)).toBeUndefined();
  });

  it('does nothing without a reset', async () => {
    expect(await handler({}, WITH_TIME)).toEqual({ deleted: 0, closed: 0, open: 0, oldestSeconds: 0 });
    expect(dynamo).not.toHaveReceivedCommand(BatchWriteCommand);
  });
});
