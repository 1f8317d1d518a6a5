import 'aws-sdk-client-mock-vitest/extend';
import { BatchGetCommand, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/meter.ts';
import { aBusEvent, aTenant } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb, rowAfter } from '../../support/mocked-dynamodb.ts';
import { busMessage, capturedOutput, liveOrganizations, received, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const DONE = { batchItemFailures: [] };
/** The writes of each transaction. */
const transactions = () =>
  dynamo.commandCalls(TransactWriteCommand).map(({ args: [{ input }] }) => input.TransactItems ?? []);
const run = (...events: Parameters<typeof busMessage>[0][]) =>
  handler(received('meter', ...events.map(busMessage)), WITH_TIME);

beforeEach(() => {
  dynamo.reset();
  dynamo.on(GetCommand).callsFake(liveOrganizations);
  dynamo.on(TransactWriteCommand).resolves({});
  dynamo.on(BatchGetCommand).resolves({});
});

describe('usage meter function', () => {
  it('counts its messages in one transaction per organization, only in its table', async () => {
    const { orgId } = aTenant();
    const [message, conversation] = [
      aBusEvent({ orgId }),
      aBusEvent({ orgId, type: 'conversation.created' }),
    ];

    expect(await run(message, conversation, aBusEvent())).toEqual(DONE);

    expect(transactions().map((writes) => writes.length)).toEqual([3, 2]);
    expect(transactions()[0]).toMatchObject([
      { Put: { Item: keys.metered(orgId, message.id), ConditionExpression: 'attribute_not_exists(pk)' } },
      { Put: { Item: keys.metered(orgId, conversation.id) } },
      {},
    ]);
    expect(rowAfter(transactions()[0]?.[2]?.Update ?? {})).toMatchObject({ conversations: 1, messages: 1 });
    const tables = transactions().flatMap((writes) =>
      writes.map(({ Put, Update }) => (Put ?? Update)?.TableName),
    );
    expect(new Set(tables)).toEqual(new Set([FUNCTION_ENVIRONMENT.USAGE_TABLE]));
  });

  it('writes nothing for a sandbox', async () => {
    dynamo.on(GetCommand).resolves({ Item: { environment: 'sandbox', tier: 'sandbox', generation: 1 } });

    expect(await run(aBusEvent({ generation: 1 }))).toEqual(DONE);

    expect(transactions()).toEqual([]);
  });

  it('repeats events while the gate is closed, and when they cannot be counted', async () => {
    capturedOutput();
    const again = { batchItemFailures: [{ itemIdentifier: 'message-1' }] };
    dynamo.on(GetCommand).resolves({});
    expect(await run(aBusEvent())).toEqual(again);

    dynamo.on(GetCommand).callsFake(liveOrganizations);
    dynamo.on(TransactWriteCommand).rejects(new Error('throttled'));
    expect(await run(aBusEvent())).toEqual(again);
  });
});
