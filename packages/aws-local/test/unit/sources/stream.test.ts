import {
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
import { aStreamRecord, numbersOf } from './stream-records.ts';

interface FakeShard {
  parent?: string;
  closed?: boolean;
  numbers: number[];
}

/** A stream in memory. */
function aStream(shards: Record<string, FakeShard>, options: Partial<StreamSourceOptions> = {}) {
  const positions = new Map<string, string>();
  const invoked: number[][] = [];
  const reads = { count: 0 };
  /** Thrown by the next lists of shards or reads, instead of an answer. */
  const troubles: { shards?: Error; reads?: Error } = {};
  const fail = (call: keyof typeof troubles) => {
    const { [call]: trouble } = troubles;
    delete troubles[call];
    if (trouble) throw trouble;
  };
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
      records: {
        async shards() {
          fail('shards');
          return Object.entries(shards).map(([ShardId, { parent }]) => ({ ShardId, ParentShardId: parent }));
        },
        async open({ shardId, position, startingPosition }) {
          const { numbers, closed } = shards[shardId] ?? expect.fail(`there is no ${shardId}`);
          let last = Number(position ?? (startingPosition === 'LATEST' ? numbers.at(-1) : 0));
          return {
            async next(limit) {
              reads.count += 1;
              const page = numbers.filter((number) => number > last).slice(0, limit);
              if (page.length === 0) fail('reads');
              last = page.at(-1) ?? last;
              const eventNames = ['MODIFY', 'INSERT'] as const;
              const records = page.map((number) => ({
                ...aStreamRecord(number),
                eventName: eventNames[number % 2] ?? 'INSERT',
              }));
              return { records, isClosed: closed === true && page.length === 0 };
            },
          };
        },
      },
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
  return { positions, invoked, reads, start, troubles };
}

const failed: InvocationResult = { payload: { errorType: 'Error' }, functionError: 'Unhandled' };

describe('a stream source', () => {
  it.each<[string, Partial<StreamSourceOptions>, string | undefined, number[][]]>([
    ['with the oldest record', {}, undefined, [[1, 2], [3], [4]]],
    ['with new records where the mapping says so', { startingPosition: 'LATEST' }, undefined, [[4]]],
    ['after its checkpoint', {}, '2', [[3], [4]]],
  ])('begins %s, and continues with new ones', async (_, options, checkpoint, expected) => {
    const shard: FakeShard = { numbers: [1, 2, 3] };
    const stream = aStream({ s1: shard }, options);
    if (checkpoint) stream.positions.set('Mapping/s1', checkpoint);
    stream.start();
    await awaitAssertion(() => expect(stream.reads.count).toBeGreaterThan(0));
    await awaitAssertion(() => expect(stream.invoked).toEqual(expected.slice(0, -1)));
    shard.numbers.push(4);
    await awaitAssertion(() => expect(stream.invoked).toEqual(expected));
    await awaitAssertion(() => expect(stream.positions.get('Mapping/s1')).toBe('4'));
  });

  it('moves its checkpoint only after a batch is processed, which it repeats until it succeeds', async () => {
    let failures = 2;
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    const stream = aStream(
      { s1: { numbers: [1, 2, 3] } },
      { invoke: async () => (failures-- > 0 ? failed : promise) },
    );
    stream.start();
    await awaitAssertion(() => expect(stream.invoked).toEqual(Array(3).fill([1, 2])));
    expect(stream.positions.get('Mapping/s1')).toBeUndefined();
    resolve({ payload: null });
    await awaitAssertion(() => expect(stream.positions.get('Mapping/s1')).toBe('3'));
    expect(stream.invoked).toHaveLength(4);
  });

  it('skips filtered records without an invocation', async () => {
    const passes = compileFilters(['{"eventName":["INSERT"]}']);
    const stream = aStream({ s1: { numbers: [1, 2, 4, 6, 7] } }, { passes });
    stream.start();
    await awaitAssertion(() => expect(stream.positions.get('Mapping/s1')).toBe('7'));
    expect(stream.invoked.flat()).toEqual([1, 7]);
  });

  it('reads a shard after its parent', async () => {
    const stream = aStream({
      child: { parent: 'parent', numbers: [11, 12] },
      parent: { parent: 'long gone', numbers: [1, 2, 3], closed: true },
    });
    stream.start();
    await awaitAssertion(() => expect(stream.invoked.flat()).toEqual([1, 2, 3, 11, 12]));
    expect(stream.positions.get('Mapping/parent')).toBe('SHARD_END');
  });

  it('gathers records for the batching window', async () => {
    const shard: FakeShard = { numbers: [1] };
    const stream = aStream({ s1: shard }, { batchSize: 3, batchingWindowSeconds: 60 });
    stream.start();
    await awaitAssertion(() => expect(stream.reads.count).toBeGreaterThan(2));
    expect(stream.invoked).toEqual([]);
    shard.numbers.push(2, 3);
    await awaitAssertion(() => expect(stream.invoked).toEqual([[1, 2, 3]]));
  });

  it('continues when an engine that was down is back, and with a new iterator when the old one has expired', async () => {
    const lines: string[] = [];
    const shard: FakeShard = { numbers: [1] };
    const stream = aStream({ s1: shard }, { log: (line) => lines.push(line) });
    stream.troubles.shards = new Error('connection refused');
    stream.troubles.reads = new ExpiredIteratorException({ message: 'expired', $metadata: {} });
    stream.start();
    await awaitAssertion(() => expect(lines[0]).toContain('connection refused'));
    await awaitAssertion(() => expect(stream.invoked).toEqual([[1]]));
    await awaitAssertion(() => expect(stream.troubles).toEqual({}));
    shard.numbers.push(2);
    await awaitAssertion(() => expect(stream.invoked).toEqual([[1], [2]]));
    expect(lines).toHaveLength(1);
  });
});

it('the API of a stream is read from the oldest record when those after a position are gone', async () => {
  const client = new DynamoDBStreamsClient({ region: 'us-east-1' });
  const mock = mockClient(client);
  mock.on(GetShardIteratorCommand).resolves({ ShardIterator: 'the oldest' });
  mock
    .on(GetShardIteratorCommand, { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' })
    .rejects(new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} }));
  mock.on(GetRecordsCommand).resolves({ Records: [] });
  const start = { streamArn: 's', shardId: 's1', position: '3', startingPosition: 'LATEST' as const };
  const reader = await recordsOfApi(client).open(start);
  await reader.next(1, new AbortController().signal);
  expect(mock.commandCalls(GetShardIteratorCommand).at(-1)?.args[0].input.ShardIteratorType).toBe(
    'TRIM_HORIZON',
  );
  expect(mock.commandCalls(GetRecordsCommand)[0]?.args[0].input.ShardIterator).toBe('the oldest');
});
