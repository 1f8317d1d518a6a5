import { DynamoDBClient, ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { getHourBefore, getLatestHours, NO_COUNTS } from '../../../functions/delivery/ledger.ts';
import { ledgerStore } from '../../../functions/delivery/ledger-records.ts';
import { isTransient } from '../../../functions/http/lifecycle.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aLedgerEntry, NOW } from '../../builders.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

const dynamo = mockedDynamoDb();
const client = new DynamoDBClient({});
const webhookId = newId('whk', NOW);
const range = getLatestHours(NOW, 168);

beforeEach(() => {
  dynamo.reset();
});

describe("read of an endpoint's hours", () => {
  const ledger = ledgerStore({ client, name: 'ledger' });

  it('continues where an answer ends early', async () => {
    const hours = [2, 1, 0].map((back) => getHourBefore(NOW, back));
    dynamo.on(QueryCommand).callsFake(({ ExclusiveStartKey: after }) => {
      const [hour = '', next] = hours.slice(after === undefined ? 0 : hours.indexOf(after.sk) + 1);
      const key = keys.ledger(webhookId, 0, hour);
      return {
        Items: [{ ...key, webhookId, generation: 0, hour, ...NO_COUNTS, owed: 1 }],
        ...(next === undefined ? {} : { LastEvaluatedKey: key }),
      };
    });
    expect((await ledger.read(webhookId, 0, range)).map(({ hour }) => hour)).toEqual(hours);
    expect(dynamo.calls()).toHaveLength(3);
  });

  it('fails with a transient error when the table throttles', async () => {
    dynamo
      .on(QueryCommand)
      .rejects(new ProvisionedThroughputExceededException({ message: 'throttled', $metadata: {} }));
    const failed = await ledger.read(webhookId, 0, range).catch((error) => error);
    expect(isTransient(failed)).toBe(true);
  });
});

describe('addition to the ledger', () => {
  const part = { shardId: 'a-shard', first: '1', last: '1' };

  it('marks an endpoint, generation and day as active once', async () => {
    const ledger = ledgerStore({ client, name: 'ledger' });
    dynamo.on(UpdateCommand).resolves({});
    const entry = aLedgerEntry({ webhookId, hour: '2026-11-20T09:00:00.000Z' });
    for (const change of [{}, {}, { hour: '2026-11-20T10:00:00.000Z' }, { hour: '2026-11-21T00:00:00.000Z' }])
      await ledger.add(part, { ...entry, ...change });
    const written = dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input.Key);
    const noted = [entry.hour, '2026-11-21T00:00:00.000Z'].map((hour) => keys.active(webhookId, 0, hour));
    expect(written.filter((key) => key?.sk === noted[0]?.sk)).toEqual(noted);
    expect(written).toHaveLength(4 + noted.length);
  });

  it('marks the day before it counts, and again after a failure', async () => {
    const ledger = ledgerStore({ client, name: 'ledger' });
    dynamo.on(UpdateCommand).rejectsOnce(new Error('throttled')).resolves({});
    const entry = aLedgerEntry({ webhookId });
    await expect(ledger.add(part, entry)).rejects.toThrow('throttled');
    expect(dynamo.calls()).toHaveLength(1);
    await ledger.add(part, entry);
    const active = keys.active(webhookId, 0, entry.hour);
    expect(dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input.Key)).toEqual([
      active,
      active,
      keys.ledger(webhookId, 0, entry.hour),
    ]);
  });
});
