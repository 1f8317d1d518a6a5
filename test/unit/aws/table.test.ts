import {
  type BatchGetItemCommand,
  DynamoDBClient,
  TransactionConflictException,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it } from 'vitest';
import { expression } from '../../../functions/aws/expression.ts';
import { readPage } from '../../../functions/aws/pages.ts';
import {
  EXISTS,
  get,
  getMany,
  lease,
  put,
  release,
  type Table,
  update,
} from '../../../functions/aws/table.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { idempotencyStore } from '../../../functions/http/idempotency.ts';
import { apiKeyStore } from '../../../functions/tenancy/api-keys.ts';
import { anApiKey, aTenant, later, NOW, seconds } from '../../builders.ts';
import { memoryTables, sharedMemoryTables } from '../../doubles/tables/stack-tables.ts';

const KEY = { pk: 'a', sk: 'b' };

describe('a write', () => {
  it('returns the row that refuses it', async () => {
    const { service } = memoryTables();
    await put(service, { ...KEY, count: 1 });
    const change = { update: expression`SET #count = ${5}`, if: expression`#count = ${2}` };
    expect(await update(service, KEY, change)).toEqual({ kind: 'refused', row: { ...KEY, count: 1 } });
  });

  it('is done when the row that refuses it shows it, as after a lost response', async () => {
    const { service } = memoryTables();
    await put(service, { ...KEY, count: 5 });
    const change = { update: expression`SET #count = ${5}`, if: expression`#count = ${2}` };
    const isDone = ({ count }: Record<string, unknown>) => count === 5;
    expect(await update(service, KEY, { ...change, isDone })).toMatchObject({ kind: 'done' });
  });

  it('is tried again while transactions conflict with it, six times', async () => {
    const conflict = new TransactionConflictException({ message: 'ongoing', $metadata: {} });
    const client = new DynamoDBClient({});
    const dynamo = mockClient(client);
    const table = { client, name: 'service' };
    const change = { update: expression`SET #count = ${5}` };
    dynamo.on(UpdateItemCommand).rejectsOnce(conflict).rejectsOnce(conflict).resolves({});
    expect(await update(table, KEY, change)).toEqual({ kind: 'done', row: undefined });
    dynamo.on(UpdateItemCommand).rejects(conflict);
    await expect(update(table, KEY, change)).rejects.toThrow(conflict);
    expect(dynamo.commandCalls(UpdateItemCommand)).toHaveLength(3 + 6);
  });
});

describe('a lease', () => {
  const take = (table: Table, now = NOW) => lease(table, KEY, { now, seconds: 10, if: EXISTS });

  it('is of one worker until it ends, by its time or by a release', async () => {
    const { service } = memoryTables();
    await put(service, KEY);
    const first = await take(service);
    if (first.kind !== 'leased') throw new Error('the row was free');
    expect(await take(service, later(NOW, seconds(9.999)))).toMatchObject({ kind: 'refused' });
    const second = await take(service, later(NOW, seconds(10)));
    expect(second).toMatchObject({ kind: 'leased', row: { lease: Object(second).lease } });
    await release(service, KEY, first.lease);
    expect(await take(service, later(NOW, seconds(11)))).toMatchObject({ kind: 'refused' });
    await release(service, KEY, Object(second).lease);
    expect(await take(service, later(NOW, seconds(11)))).toMatchObject({ kind: 'leased' });
  });
});

describe('a read of many rows', () => {
  it('asks again for what DynamoDB left out, and gives up', async () => {
    const { service } = memoryTables();
    const keys = Array.from({ length: 150 }, (_, index) => ({ pk: 'a', sk: String(index) }));
    for (const key of keys) await put(service, key);
    let leavesOut = 4;
    const client: Table['client'] = Object.create(service.client, {
      send: {
        async value(command: BatchGetItemCommand) {
          const [[name = '', { Keys = [] } = {}] = []] = Object.entries(command.input.RequestItems ?? {});
          if (leavesOut === 0) return service.client.send(command);
          leavesOut -= 1;
          return { Responses: {}, UnprocessedKeys: { [name]: { Keys } } };
        },
      },
    });
    expect(await getMany({ ...service, client }, keys)).toHaveLength(150);
    leavesOut = 5;
    await expect(getMany({ ...service, client }, keys)).rejects.toThrow('could not be read in full');
    expect(await get(service, { pk: 'a', sk: 'none' })).toBeUndefined();
  });
});

describe('the tables in memory', () => {
  const send = (values: object, names?: Record<string, string>) =>
    memoryTables().service.client.send(
      new UpdateItemCommand({
        TableName: 'service',
        Key: marshall(KEY),
        UpdateExpression: 'SET x = :x',
        ExpressionAttributeValues: marshall(values),
        ExpressionAttributeNames: names,
      }),
    );

  it('refuse names and values that no expression uses, as DynamoDB does', async () => {
    await expect(send({ ':x': 1, ':y': 1 })).rejects.toThrow('unused in expressions: keys: {:y}');
    await expect(send({ ':x': 1 }, { '#y': 'y' })).rejects.toThrow('unused in expressions: keys: {#y}');
    await expect(send({ ':y': 1 })).rejects.toThrow('attribute value: :x');
    await expect(send({ ':x': 1 })).resolves.toEqual({});
  });
});

type Tables = ReturnType<ReturnType<typeof sharedMemoryTables>>;

/*
 * Reads that must see the latest write. No engine on one machine can disprove that they do, because none
 * returns an older row.
 */
it.each<[string, (tables: Tables) => Promise<unknown>]>([
  [
    'an API key, so that its revocation applies to the next request',
    ({ service }) => apiKeyStore(service).find('d'),
  ],
  ['a listed API key', ({ service }) => apiKeyStore(service).revoke(aTenant().orgId, anApiKey().id, NOW)],
  [
    'an idempotent answer',
    ({ service }) =>
      idempotencyStore(service).find({ tenant: aTenant(), route: 'create-thing', key: 'k' }, NOW),
  ],
  ['a page', ({ service }) => readPage(service, ['p'], { limit: 1 }, { parse: () => ({ id: 'x' }) })],
  ['an outbox entry', ({ outbox }) => outboxStore(outbox).find({ pk: 'a partition', sk: 'an entry' })],
])('%s is read consistently', async (_, read) => {
  const reads: unknown[] = [];
  const tables = sharedMemoryTables()(async (_operation, { ConsistentRead }, answer) => {
    reads.push(ConsistentRead);
    return answer();
  });
  await read(tables);
  expect(reads).toEqual([true]);
});
