import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteItemCommand, DescribeTableCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import { startDynamoDb } from '../../src/engines/dynamodb.ts';
import { runningProcess } from '../../src/engines/processes.ts';
import { sweepExpired } from '../../src/engines/sweeper.ts';
import { LocalRunError } from '../../src/errors.ts';
import { provisionTables } from '../../src/provision/provision.ts';
import { awaitAssertion } from '../support/until.ts';
import { startRun } from './abandoned-run.ts';
import { dynamoDbClient } from './clients.ts';
import {
  exists,
  inSeconds,
  key,
  keysOf,
  now,
  put,
  start,
  startWithTable,
  streamRecords,
} from './contract-table.ts';
import { aTemplate, resources, TABLE } from './fixture.ts';
import { stateDirectory } from './state-directory.ts';

describe('the embedded DynamoDB', () => {
  it('keeps its items, indexes, stream and time to live when the whole run is killed', async () => {
    const directory = stateDirectory();
    const run = await startRun(directory);
    const before = aTemplate();
    await provisionTables(before.template, before.references, dynamoDbClient(run.dynamodb));
    await put(dynamoDbClient(run.dynamodb), 'kept');
    await run.kill();

    const { engine, client, streamArn } = await startWithTable(directory);

    expect(await exists(client, 'kept')).toBe(true);
    const byKind = await client.send(
      new QueryCommand({
        TableName: TABLE,
        IndexName: 'by-kind',
        KeyConditionExpression: 'kind = :kind',
        ExpressionAttributeValues: { ':kind': { S: 'event' } },
      }),
    );
    expect(byKind.Items).toHaveLength(1);
    expect(keysOf(await streamRecords(engine.endpoint, streamArn))).toEqual(['kept']);
    expect(engine.database.expiringTables()).toMatchObject([{ name: TABLE, attribute: 'expiresAt' }]);
  });

  it('ends the engine that a killed run has left behind', async () => {
    const directory = stateDirectory();
    const run = await startRun(directory);
    await run.kill();
    expect(runningProcess(run.engineProcess)?.command).toContain('dynoxide');

    await start(directory);

    expect(runningProcess(run.engineProcess)).toBeUndefined();
  });

  it('does not end the engine of a running process', async () => {
    const directory = stateDirectory();
    const run = await startRun(directory);

    await expect(startDynamoDb({ directory })).rejects.toThrow(/Another local run \(process \d+\)/);

    expect(runningProcess(run.engineProcess)).toBeDefined();
    await run.kill();
    await start(directory);
  });

  it("does not end another process with its engine's id", async () => {
    const directory = stateDirectory();
    writeFileSync(
      join(directory, 'dynamodb.sqlite.pid'),
      JSON.stringify({ pid: process.pid, parent: process.ppid }),
    );

    await start(directory);

    expect(runningProcess(process.pid)).toBeDefined();
  });

  it('is restarted at the same URL when its process dies', async () => {
    const { engine, client } = await startWithTable();
    await put(client, 'kept');
    const first = engine.processId();
    process.kill(Number(first), 'SIGKILL');

    await awaitAssertion(async () => {
      expect(engine.processId()).not.toBe(first);
      expect(await exists(client, 'kept')).toBe(true);
    });
  });

  it('refuses a table with another key schema', async () => {
    const directory = stateDirectory();
    const { client } = await startWithTable(directory);
    const { GlobalSecondaryIndexes: _, ...withoutIndexes } = resources.Events.Properties;
    const { template, references } = aTemplate({
      Events: { ...resources.Events, Properties: withoutIndexes },
    });

    await expect(provisionTables(template, references, client)).rejects.toThrow(
      'The table Test-Events of an earlier run has other indexes than the template',
    );
  });

  it('applies a changed time to live', async () => {
    const { engine, client } = await startWithTable();
    const { template, references } = aTemplate({
      Events: {
        ...resources.Events,
        Properties: {
          ...resources.Events.Properties,
          TimeToLiveSpecification: { AttributeName: 'endsAt', Enabled: true },
        },
      },
    });

    await provisionTables(template, references, client);

    expect(engine.database.expiringTables()).toMatchObject([{ name: TABLE, attribute: 'endsAt' }]);
  });

  it('reports the output of a program that did not start', async () => {
    const directory = stateDirectory();
    const binary = join(directory, 'broken');
    writeFileSync(binary, '#!/bin/sh\necho "no such option" >&2\nexit 2\n');
    chmodSync(binary, 0o755);

    await expect(startDynamoDb({ directory, binary })).rejects.toThrow(/did not start: no such option/);
  });

  it('refuses a directory that it cannot write to', async () => {
    const file = join(stateDirectory(), 'a-file');
    writeFileSync(file, '');

    await expect(startDynamoDb({ directory: join(file, 'state') })).rejects.toThrow(LocalRunError);
  });
});

describe('the time to live', () => {
  it('deletes expired items, from indexes too, and nothing else', async () => {
    const { engine, client } = await startWithTable();
    await put(client, 'expired', { expiresAt: inSeconds(-60) });
    await put(client, 'later', { expiresAt: inSeconds(60) });
    await put(client, 'never');
    await put(client, 'ancient', { expiresAt: { N: '1' } });
    await put(client, 'text', { expiresAt: { S: '1000000000' } });

    expect(await sweepExpired(engine.database, client, now)).toBe(1);

    const remaining = await client.send(
      new QueryCommand({
        TableName: TABLE,
        IndexName: 'by-kind',
        KeyConditionExpression: 'kind = :kind',
        ExpressionAttributeValues: { ':kind': { S: 'event' } },
      }),
    );
    expect(remaining.Items?.map(({ pk }) => pk?.S).sort()).toEqual(['ancient', 'later', 'never', 'text']);
  });

  it('deletes more than one batch', async () => {
    const { engine, client } = await startWithTable();
    await Promise.all(
      Array.from({ length: 250 }, (_, id) => put(client, `e${id}`, { expiresAt: inSeconds(-1) })),
    );

    expect(await sweepExpired(engine.database, client, now)).toBe(250);
  });

  it('examines a table in steps, and begins again after the last', async () => {
    const { engine, client } = await startWithTable();
    for (const id of ['a', 'b', 'c', 'd']) await put(client, id, { expiresAt: inSeconds(60) });
    await put(client, 'expired', { expiresAt: inSeconds(-60) });
    const { database } = engine;
    const [table] = database.expiringTables();
    if (table === undefined) throw new Error('the table has a time to live');

    const step = () => database.expired(table, now, 100, 2);
    expect([step(), step(), step(), step()]).toEqual([[], [], [key('expired')], []]);
    await put(client, 'a', { expiresAt: inSeconds(-60) });
    expect(step()).toEqual([]);
    expect(new Set([...step(), ...step()])).toEqual(new Set([key('expired'), key('a')]));
  });

  it('marks its own deletions in the stream, and no others', async () => {
    const { engine, client, streamArn } = await startWithTable();
    await put(client, 'expired', { expiresAt: inSeconds(-60) });
    await put(client, 'deleted', { expiresAt: inSeconds(-60) });
    await client.send(new DeleteItemCommand({ TableName: TABLE, Key: key('deleted') }));
    await sweepExpired(engine.database, client, now);

    const removals = (await streamRecords(engine.endpoint, streamArn)).filter(
      ({ eventName }) => eventName === 'REMOVE',
    );
    expect(
      removals.map(({ dynamodb, userIdentity }) => [dynamodb?.Keys?.pk?.S, userIdentity !== undefined]),
    ).toEqual([
      ['deleted', false],
      ['expired', true],
    ]);
  });

  it('keeps an item whose time was extended after it was found', async () => {
    const { engine, client } = await startWithTable();
    await put(client, 'extended', { expiresAt: inSeconds(60) });
    vi.spyOn(engine.database, 'expired').mockReturnValueOnce([key('extended')]);

    expect(await sweepExpired(engine.database, client, now)).toBe(0);
    expect(await exists(client, 'extended')).toBe(true);
  });
});

describe('a provisioned table', () => {
  it('has its name and ARNs, in the one region', async () => {
    const { client } = await start(stateDirectory());
    const { template, references } = aTemplate();

    await provisionTables(template, references, client);

    expect(references.resolve({ Ref: 'Events' })).toBe(TABLE);
    expect(references.resolve({ 'Fn::GetAtt': ['Events', 'Arn'] })).toBe(
      `arn:aws:dynamodb:us-east-1:000000000000:table/${TABLE}`,
    );
    expect(references.resolve({ 'Fn::GetAtt': ['Events', 'StreamArn'] })).toMatch(
      /^arn:aws:dynamodb:us-east-1:000000000000:table\/Test-Events\/stream\//,
    );
    const { Table } = await client.send(new DescribeTableCommand({ TableName: TABLE }));
    expect(Table?.TableStatus).toBe('ACTIVE');
  });
});
