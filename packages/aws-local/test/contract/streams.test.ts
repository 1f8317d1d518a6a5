import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { describe, expect, it } from 'vitest';
import { startDynamoDb } from '../../src/engines/dynamodb.ts';
import { trimStreams } from '../../src/engines/sweeper.ts';
import { provisionTables } from '../../src/provision/provision.ts';
import { keysOf, now, put, startWithTable, streamRecords } from './a-table.ts';
import { dynamoDbClient, streamsClient } from './clients.ts';
import { aTemplate } from './fixture.ts';
import { stateDirectory } from './state-directory.ts';

describe('stream records', () => {
  it('are deleted when they are a day old, except for the newest', async () => {
    const { engine, client, streamArn } = await startWithTable();
    for (const id of ['first', 'second', 'third']) await put(client, id);
    const inADay = new Date(now.getTime() + 25 * 60 * 60 * 1_000);

    expect(await trimStreams(engine.streamLog, now)).toBe(0);
    expect(await trimStreams(engine.streamLog, inADay)).toBe(2);

    await put(client, 'fourth');
    const left = await streamRecords(engine.endpoint, streamArn);
    expect(keysOf(left)).toEqual(['third', 'fourth']);
    expect(left.map(({ dynamodb }) => dynamodb?.SequenceNumber)).toEqual(['3', '4']);
  });

  it('are kept until all readers have read them, regardless of their age', async () => {
    const { engine, client, streamArn } = await startWithTable();
    for (const id of ['first', 'second', 'third']) await put(client, id);
    const inADay = new Date(now.getTime() + 25 * 60 * 60 * 1_000);

    expect(await trimStreams(engine.streamLog, inADay, { readUpTo: () => 0n })).toBe(0);
    expect(await trimStreams(engine.streamLog, inADay, { readUpTo: () => 1n })).toBe(1);
    expect(keysOf(await streamRecords(engine.endpoint, streamArn))).toEqual(['second', 'third']);
  });

  it('can be read by their numbers, which a failure destination gets', async () => {
    const { engine, client, streamArn: StreamArn } = await startWithTable();
    for (const id of ['first', 'second', 'third']) await put(client, id);
    const streams = streamsClient(engine.endpoint);
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));

    const { ShardIterator } = await streams.send(
      new GetShardIteratorCommand({
        StreamArn,
        ShardId: StreamDescription?.Shards?.[0]?.ShardId,
        ShardIteratorType: 'AT_SEQUENCE_NUMBER',
        SequenceNumber: '2',
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
    await trimStreams(first.streamLog, new Date(now.getTime() + 25 * 60 * 60 * 1_000));
    await first.stop();

    const second = await startWithTable(directory);
    await put(second.client, 'after');

    const numbers = await streamRecords(second.engine.endpoint, second.streamArn);
    expect(numbers.map(({ dynamodb }) => dynamodb?.SequenceNumber)).toEqual(['1', '2']);
  });
});
