import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LocalRunError } from '../../../src/errors.ts';
import { messageBody } from '../../../src/sources/bus-targets.ts';
import { failureMessage } from '../../../src/sources/failure-destination.ts';
import { requireValid } from '../../../src/sources/mapping-rules.ts';
import { readByAll } from '../../../src/sources/readers.ts';
import { aStreamRecord } from './stream-records.ts';

const common = { logicalId: 'Mapping', MaximumBatchingWindowInSeconds: 0, ParallelizationFactor: 1 };
const stream = {
  ...common,
  EventSourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1',
  StartingPosition: 'LATEST',
  TumblingWindowInSeconds: 30,
};
const queue = {
  ...common,
  EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:Q',
  TumblingWindowInSeconds: 0,
  BatchSize: 10,
};

describe('a mapping', () => {
  it.each([
    ['a stream with a tumbling window', stream],
    ['a stream with lanes', { ...stream, TumblingWindowInSeconds: 0, ParallelizationFactor: 4 }],
    ['a queue', queue],
    ['a queue with large batches', { ...queue, BatchSize: 100, MaximumBatchingWindowInSeconds: 1 }],
  ])('is accepted with %s', (_, mapping) => {
    expect(requireValid(mapping)).toBe(mapping);
  });

  it.each([
    ['a window and lanes', { ...stream, ParallelizationFactor: 2 }, 'ParallelizationFactor'],
    ['a window over a queue', { ...queue, TumblingWindowInSeconds: 30 }, 'TumblingWindowInSeconds'],
    ['a stream and no position', { ...stream, StartingPosition: undefined }, 'StartingPosition'],
    ['a scaling of a stream', { ...stream, ScalingConfig: {} }, 'ScalingConfig'],
    [
      'large batches without a batching window',
      { ...queue, BatchSize: 11 },
      'MaximumBatchingWindowInSeconds',
    ],
  ])('is refused as by Lambda with %s', (_, mapping, name) => {
    expect(() => requireValid(mapping)).toThrow(LocalRunError);
    expect(() => requireValid(mapping)).toThrow(`Mapping: ${name}`);
  });
});

const streamOf = (table: string) => `arn:aws:dynamodb:us-east-1:000000000000:table/${table}/stream/1`;
const mappings = [
  { logicalId: 'Slow', EventSourceArn: streamOf('Events'), StartingPosition: 'TRIM_HORIZON' },
  { logicalId: 'Fast', EventSourceArn: streamOf('Events'), StartingPosition: 'LATEST' },
  { logicalId: 'Other', EventSourceArn: streamOf('EventsToo'), StartingPosition: 'TRIM_HORIZON' },
  { logicalId: 'Work', EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:Events' },
];

const readUpTo = (positions: Record<string, Record<string, string>>, table = 'Events') =>
  readByAll(mappings, { of: (source) => new Map(Object.entries(positions[source] ?? {})) })(table);

describe('the position that all readers of a stream have passed', () => {
  it('is that of the slowest reader, by number', () => {
    expect(readUpTo({ Slow: { s1: '9' }, Fast: { s1: '10' }, Other: { s1: '1' } })).toBe(9n);
    expect(readUpTo({ Slow: { s1: '100' }, Fast: { s1: '99' } })).toBe(99n);
  });

  it('is the beginning while a reader from the oldest record has not begun', () => {
    expect(readUpTo({ Fast: { s1: '10' } })).toBe(0n);
  });

  it('ignores a reader that begins with new records', () => {
    expect(readUpTo({ Slow: { s1: '9' } })).toBe(9n);
  });

  it('is taken from the shards that are not closed', () => {
    expect(readUpTo({ Slow: { s1: 'SHARD_END', s2: '12' }, Fast: { s2: '13' } })).toBe(12n);
  });

  it('is unlimited without readers', () => {
    expect(readUpTo({}, 'Unread')).toBeUndefined();
  });
});

const discarded = {
  records: [aStreamRecord(7, 'a', 1_573_690_399), aStreamRecord(9, 'b', 1_573_690_400)],
  condition: 'RetryAttemptsExhausted',
  invocations: 3,
  result: { payload: { errorType: 'Error' }, functionError: 'Unhandled' },
  functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:F',
  streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1',
  shardId: 'shardId-1',
} as const;

it("a failure destination gets Lambda's message about records given up", () => {
  expect(failureMessage(discarded, new Date('2019-11-14T00:13:49.717Z'))).toEqual({
    requestContext: {
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      functionArn: discarded.functionArn,
      condition: 'RetryAttemptsExhausted',
      approximateInvokeCount: 3,
    },
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    version: '1.0',
    timestamp: '2019-11-14T00:13:49.717Z',
    DDBStreamBatchInfo: {
      shardId: 'shardId-1',
      startSequenceNumber: '7',
      endSequenceNumber: '9',
      approximateArrivalOfFirstRecord: '2019-11-14T00:13:19Z',
      approximateArrivalOfLastRecord: '2019-11-14T00:13:20Z',
      batchSize: 2,
      streamArn: discarded.streamArn,
    },
  });
});

it('a failure destination gets no response part when the function was not invoked', () => {
  const { result: _, ...unasked } = { ...discarded, condition: 'RecordAgeExceeded' as const, invocations: 0 };
  expect(failureMessage(unasked, new Date(0))).not.toHaveProperty('responseContext');
});

it('the message of a bus event has the same content for any characters, in those that the embedded SQS accepts', () => {
  expect(messageBody({ name: 'Ada 🦊 \uFFFF' })).toBe('{"name":"Ada \\ud83e\\udd8a \\uffff"}');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const body = messageBody({ name });
      expect(JSON.parse(body)).toEqual({ name });
      expect(body).toMatch(/^[\t\n\r\x20-\uD7FF\uE000-\uFFFD]*$/);
    }),
  );
});
