import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InvocationResult } from '../../../src/functions/sandbox.ts';
import { waitForInterval } from '../../../src/sources/change-signals.ts';
import { compileFilters } from '../../../src/sources/filter.ts';
import { recordsOfApi } from '../../../src/sources/record-reader.ts';
import { type StreamSourceOptions, startStreamSource } from '../../../src/sources/stream.ts';
import { awaitAssertion } from '../../support/until.ts';
import { numbersOf } from './stream-records.ts';

interface FakeShard {
  parent?: string;
  closed?: boolean;
  numbers: number[];
}

/** A stream in memory: an iterator is `shard:last number read`. */
function aStream(shards: Record<string, FakeShard>, options: Partial<StreamSourceOptions> = {}) {
  const streams = new DynamoDBStreamsClient({ region: 'us-east-1' });
  const mock = mockClient(streams);
  const positions = new Map<string, string>();
  const invoked: number[][] = [];
  /** Thrown by the next calls, instead of an answer. */
  const troubles: Error[] = [];
  mock.on(DescribeStreamCommand).callsFake(() => {
    const trouble = troubles.shift();
    if (trouble) throw trouble;
    const Shards = Object.entries(shards).map(([ShardId, { parent }]) => ({
      ShardId,
      ParentShardId: parent,
    }));
    return { StreamDescription: { Shards } };
  });
  mock.on(GetShardIteratorCommand).callsFake(({ ShardId, ShardIteratorType, SequenceNumber }) => {
    const latest = String(shards[ShardId]?.numbers.at(-1) ?? 0);
    const position = { TRIM_HORIZON: '0', LATEST: latest, AFTER_SEQUENCE_NUMBER: SequenceNumber }[
      String(ShardIteratorType)
    ];
    return { ShardIterator: `${ShardId}:${position}` };
  });
  mock.on(GetRecordsCommand).callsFake(({ ShardIterator, Limit }) => {
    const [shardId = '', position] = String(ShardIterator).split(':');
    const shard = shards[shardId];
    const page = (shard?.numbers ?? []).filter((number) => number > Number(position)).slice(0, Limit);
    const atEnd = shard?.closed && page.length === 0;
    return {
      Records: page.map((number) => ({
        eventName: number % 2 ? 'INSERT' : 'MODIFY',
        dynamodb: { SequenceNumber: String(number), Keys: { pk: { S: 'a' } } },
      })),
      NextShardIterator: atEnd ? undefined : `${shardId}:${page.at(-1) ?? position}`,
    };
  });
  const { invoke = async () => ({ payload: null }), ...others } = options;
  const start = () => {
    const source = startStreamSource({
      id: 'Mapping',
      streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1',
      functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:F',
      startingPosition: 'TRIM_HORIZON',
      batchSize: 2,
      batchingWindowSeconds: 0,
      lanes: 1,
      windowSeconds: 0,
      policy: {
        maximumRetryAttempts: -1,
        maximumRecordAgeSeconds: -1,
        bisectOnError: false,
        reportsItemFailures: true,
      },
      passes: compileFilters([]),
      records: recordsOfApi(streams),
      changeReader: () => waitForInterval,
      checkpoints: {
        get: (source, shard) => positions.get(`${source}/${shard}`),
        set: (source, shard, position) => void positions.set(`${source}/${shard}`, position),
      },
      log: () => undefined,
      invoke: (event) => {
        invoked.push(numbersOf(event.Records));
        return invoke(event);
      },
      ...others,
    });
    onTestFinished(() => source.stop());
    return source;
  };
  return { positions, invoked, mock, start, troubles };
}

const failed: InvocationResult = { payload: { errorType: 'Error' }, functionError: 'Unhandled' };

describe('a stream source', () => {
  it('begins with the oldest record, and continues with new ones', async () => {
    const shard: FakeShard = { numbers: [1, 2, 3] };
    const stream = aStream({ s1: shard });
    stream.start();
    await awaitAssertion(() => expect(stream.invoked).toEqual([[1, 2], [3]]));
    shard.numbers.push(4);
    await awaitAssertion(() => expect(stream.invoked.at(-1)).toEqual([4]));
    await awaitAssertion(() => expect(stream.positions.get('Mapping/s1')).toBe('4'.padStart(21, '0')));
  });

  it('begins with new records where the mapping says so', async () => {
    const shard: FakeShard = { numbers: [1, 2] };
    const stream = aStream({ s1: shard }, { startingPosition: 'LATEST' });
    stream.start();
    await awaitAssertion(() => expect(stream.mock.commandCalls(GetRecordsCommand).length).toBeGreaterThan(0));
    shard.numbers.push(3);
    await awaitAssertion(() => expect(stream.invoked).toEqual([[3]]));
  });

  it('continues after its checkpoint', async () => {
    const stream = aStream({ s1: { numbers: [1, 2, 3, 4] } });
    stream.positions.set('Mapping/s1', '3');
    stream.start();
    await awaitAssertion(() => expect(stream.invoked).toEqual([[4]]));
  });

  it('moves its checkpoint only after a batch is processed', async () => {
    let finish: (() => void) | undefined;
    const stream = aStream(
      { s1: { numbers: [1, 2] } },
      {
        invoke: () =>
          new Promise((resolve) => {
            finish = () => resolve({ payload: null });
          }),
      },
    );
    stream.start();
    await awaitAssertion(() => expect(finish).toBeDefined());
    expect(stream.positions.get('Mapping/s1')).toBeUndefined();
    finish?.();
    await awaitAssertion(() => expect(stream.positions.get('Mapping/s1')).toBe('2'.padStart(21, '0')));
  });

  it('repeats a batch until it succeeds, before any other', async () => {
    let failures = 2;
    const stream = aStream(
      { s1: { numbers: [1, 2, 3] } },
      {
        invoke: async () => {
          failures -= 1;
          return failures >= 0 ? failed : { payload: null };
        },
      },
    );
    stream.start();
    await awaitAssertion(() => expect(stream.invoked).toEqual([[1, 2], [1, 2], [1, 2], [3]]));
  });

  it('skips filtered records without an invocation', async () => {
    const stream = aStream(
      { s1: { numbers: [1, 2, 4, 6, 7] } },
      { passes: compileFilters(['{"eventName":["INSERT"]}']) },
    );
    stream.start();
    await awaitAssertion(() => expect(stream.positions.get('Mapping/s1')).toBe('7'.padStart(21, '0')));
    expect(stream.invoked.flat()).toEqual([1, 7]);
  });

  it('reads a shard after its parent', async () => {
    const shards: Record<string, FakeShard> = {
      child: { parent: 'parent', numbers: [11, 12] },
      parent: { parent: 'long gone', numbers: [1, 2, 3], closed: true },
    };
    const stream = aStream(shards);
    stream.start();
    await awaitAssertion(() => expect(stream.invoked.flat()).toEqual([1, 2, 3, 11, 12]));
    expect(stream.positions.get('Mapping/parent')).toBe('SHARD_END');
  });

  it('gathers records for the batching window', async () => {
    const shard: FakeShard = { numbers: [1] };
    const stream = aStream({ s1: shard }, { batchSize: 3, batchingWindowSeconds: 60 });
    stream.start();
    await awaitAssertion(() => expect(stream.mock.commandCalls(GetRecordsCommand).length).toBeGreaterThan(2));
    expect(stream.invoked).toEqual([]);
    shard.numbers.push(2, 3);
    await awaitAssertion(() => expect(stream.invoked).toEqual([[1, 2, 3]]));
  });

  it('requests a new iterator when the old one has expired', async () => {
    const stream = aStream({ s1: { numbers: [1] } });
    const expired = new ExpiredIteratorException({ message: 'expired', $metadata: {} });
    stream.mock.on(GetRecordsCommand, { ShardIterator: 's1:1' }).rejectsOnce(expired);
    stream.start();
    await awaitAssertion(() =>
      expect(stream.mock.commandCalls(GetShardIteratorCommand).length).toBeGreaterThan(1),
    );
    expect(stream.invoked).toEqual([[1]]);
  });

  it('begins with the oldest record when those after its checkpoint are gone', async () => {
    const stream = aStream({ s1: { numbers: [8, 9] } });
    stream.positions.set('Mapping/s1', '3');
    const trimmed = new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} });
    stream.mock.on(GetShardIteratorCommand, { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' }).rejects(trimmed);
    stream.start();
    await awaitAssertion(() => expect(stream.invoked).toEqual([[8, 9]]));
  });

  it('continues when an engine that was down is back', async () => {
    const lines: string[] = [];
    const stream = aStream({ s1: { numbers: [1] } }, { log: (line) => lines.push(line) });
    stream.troubles.push(new Error('connection refused'));
    stream.start();
    await awaitAssertion(() => expect(lines[0]).toContain('connection refused'));
    await awaitAssertion(() => expect(stream.invoked).toEqual([[1]]));
  });
});
