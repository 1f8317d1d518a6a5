import { describe, expect, it } from 'vitest';
import { readByAll } from '../../../src/sources/readers.ts';

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
