import { describe, expect, it } from 'vitest';
import { LocalRunError } from '../../../src/errors.ts';
import { requireValid } from '../../../src/sources/mapping-rules.ts';

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
