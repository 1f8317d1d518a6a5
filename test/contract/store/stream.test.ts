import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { streamReader } from '../../../functions/delivery/outbox-readers.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();

/** An outbox with so many rows, and the position of each in the stream. */
async function aStreamOf(count: number) {
  const { outbox } = await engine.tables();
  const streams = engine.streams();
  const rows = Array.from({ length: count }, (_, index) => ({
    pk: `row-${index}`,
    sk: 'row',
    body: `é ${index}`,
  }));
  for (const Item of rows) await outbox.client.send(new PutCommand({ TableName: outbox.name, Item }));

  const { Table } = await outbox.client.send(new DescribeTableCommand({ TableName: outbox.name }));
  const streamArn = String(Table?.LatestStreamArn);
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: streamArn }));
  const shardId = String(StreamDescription?.Shards?.[0]?.ShardId);
  /** Sequence numbers of the shard's records in order. */
  async function numbers(): Promise<string[]> {
    const { ShardIterator } = await streams.send(
      new GetShardIteratorCommand({
        StreamArn: streamArn,
        ShardId: shardId,
        ShardIteratorType: 'TRIM_HORIZON',
      }),
    );
    const { Records = [] } = await streams.send(new GetRecordsCommand({ ShardIterator }));
    return Records.map(({ dynamodb }) => String(dynamodb?.SequenceNumber).padStart(21, '0'));
  }
  const read = streamReader(streams);
  return {
    outbox,
    rows,
    streamArn,
    /** Reads from one record to another, by their positions in the stream. */
    async between(
      first: number,
      last: number,
      elsewhere: { streamArn?: string; shardId?: string; startSequenceNumber?: string } = {},
    ) {
      const all = await numbers();
      return read({
        streamArn,
        shardId,
        startSequenceNumber: String(all[first]),
        endSequenceNumber: String(all[last]),
        ...elsewhere,
      });
    },
  };
}

describe('a repeated read of a part of a stream', () => {
  it.each([
    [0, 0],
    [0, 9],
    [3, 6],
    [9, 9],
  ])('returns the rows from number %i to number %i inclusive', async (first, last) => {
    const { rows, between } = await aStreamOf(10);
    expect(await between(first, last)).toEqual(rows.slice(first, last + 1));
  });

  it('leaves out records that are no inserts', async () => {
    const { outbox, rows, between } = await aStreamOf(3);
    await outbox.client.send(
      new UpdateCommand({
        TableName: outbox.name,
        Key: { pk: 'row-1', sk: 'row' },
        UpdateExpression: 'SET body = :body',
        ExpressionAttributeValues: { ':body': 'changed' },
      }),
    );
    const late = { pk: 'row-3', sk: 'row', body: 'late' };
    await outbox.client.send(new PutCommand({ TableName: outbox.name, Item: late }));

    expect(await between(1, 4)).toEqual([...rows.slice(1), late]);
  });

  it.each([
    ['a stream that does not exist', { streamArn: 'outbox-' }],
    ['a shard that does not exist', { shardId: 'shardId-00000001795245426000-1f2e3d4c' }],
    // The embedded engine numbers its records from 1, and continues after those that it has trimmed.
    ['a part whose start was trimmed from the stream', { startSequenceNumber: '0'.padStart(21, '0') }],
  ])('is empty for %s', async (_, elsewhere) => {
    const { streamArn, between } = await aStreamOf(3);
    const gone = 'streamArn' in elsewhere ? { streamArn: streamArn.replace('outbox-', 'gone-') } : elsewhere;
    expect(await between(0, 2, gone)).toBeUndefined();
  });
});
