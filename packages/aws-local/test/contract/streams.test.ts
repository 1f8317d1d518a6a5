import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { describe, expect, it } from 'vitest';
import { startDynamoDb } from '../../src/engines/dynamodb.ts';
import { trimStreams } from '../../src/engines/sweeper.ts';
import { provisionTables } from '../../src/provision/provision.ts';
import { dynamoDbClient, streamsClient } from './clients.ts';
import { keysOf, now, numbersOf, put, startWithTable, streamRecords } from './contract-table.ts';
import { aTemplate } from './fixture.ts';
import { stateDirectory } from './state-directory.ts';

describe('stream records', () => {
  it('are deleted when they are a day old, except for the newest', async () => {
    const { engine, client, streamArn } = await startWithTable();
    for (const id of ['first', 'second', 'third']) await put(client, id);
    const [, , third = 0n] = numbersOf(await streamRecords(engine.endpoint, streamArn));
    const inADay = new Date(now.getTime() + 25 * 60 * 60 * 1_000);

    expect(await trimStreams(engine.database, now)).toBe(0);
    expect(await trimStreams(engine.database, inADay)).toBe(2);

    await put(client, 'fourth');
    const left = await streamRecords(engine.endpoint, streamArn);
    expect(keysOf(left)).toEqual(['third', 'fourth']);
    const [kept, next = 0n] = numbersOf(left);
    expect(kept).toBe(third);
    expect(next).toBeGreaterThan(third);
  });

  it('are kept until all readers have read them, regardless of their age', async () => {
    const { engine, client, streamArn } = await startWithTable();
    for (const id of ['first', 'second', 'third']) await put(client, id);
    const [first = 0n] = numbersOf(await streamRecords(engine.endpoint, streamArn));
    const inADay = new Date(now.getTime() + 25 * 60 * 60 * 1_000);

    expect(await trimStreams(engine.database, inADay, { readUpTo: () => 0n })).toBe(0);
    expect(await trimStreams(engine.database, inADay, { readUpTo: () => first })).toBe(1);
    expect(keysOf(await streamRecords(engine.endpoint, streamArn))).toEqual(['second', 'third']);
  });

  it('can be read by their numbers, which a failure destination gets', async () => {
    const { engine, client, streamArn: StreamArn } = await startWithTable();
    for (const id of ['first', 'second', 'third']) await put(client, id);
    const [, second] = await streamRecords(engine.endpoint, StreamArn);
    const streams = streamsClient(engine.endpoint);
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));

    const { ShardIterator } = await streams.send(
      new GetShardIteratorCommand({
        StreamArn,
        ShardId: StreamDescription?.Shards?.[0]?.ShardId,
        ShardIteratorType: 'AT_SEQUENCE_NUMBER',
        SequenceNumber: second?.dynamodb?.SequenceNumber,
      }),
    );
    const { Records } = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 1 }));
    expect(keysOf(Records ?? [])).toEqual(['second']);
  });

  it('continue their numbers after a restart', async () => {
    const directory = stateDirectory();
    const first = await startDynamoDb({ directory });
    const { template, references } = aTemplate();
    const client = dynamoDbClient(first.endpoint);
    await provisionTables(template, references, client);
    await put(client, 'before');
    await trimStreams(first.database, new Date(now.getTime() + 25 * 60 * 60 * 1_000));
    await first.stop();

    const second = await startWithTable(directory);
    await put(second.client, 'after');

    const records = await streamRecords(second.engine.endpoint, second.streamArn);
    expect(keysOf(records)).toEqual(['before', 'after']);
    const [before = 0n, after = 0n] = numbersOf(records);
    expect(after).toBeGreaterThan(before);
  });
});
