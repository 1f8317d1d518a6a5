import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { streamReader } from '../../../functions/store/outbox.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();

/** An outbox with so many rows, and where the stream has each change. */
async function aStreamOf(count: number) {
  const { outbox } = await engine.tables();
  const streams = engine.streams();
  const rows = Array.from({ length: count }, (_, index) => ({ pk: `row-${index}`, body: `é ${index}` }));
  for (const Item of rows) await outbox.client.send(new PutCommand({ TableName: outbox.name, Item }));

  const { Table } = await outbox.client.send(new DescribeTableCommand({ TableName: outbox.name }));
  const streamArn = String(Table?.LatestStreamArn);
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: streamArn }));
  const shardId = String(StreamDescription?.Shards?.[0]?.ShardId);
  /** Sequence numbers of the shard's records, in their order. */
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
    /** Reads from one change to another, by their places in the stream. */
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

describe('reading a part of a stream again', () => {
  it.each([
    [0, 0],
    [0, 9],
    [3, 6],
    [9, 9],
  ])('brings the rows from number %i to number %i, both included', async (first, last) => {
    const { rows, between } = await aStreamOf(10);
    expect(await between(first, last)).toEqual(rows.slice(first, last + 1));
  });

  it('leaves out what was not inserted', async () => {
    const { outbox, rows, between } = await aStreamOf(3);
    await outbox.client.send(
      new UpdateCommand({
        TableName: outbox.name,
        Key: { pk: 'row-1' },
        UpdateExpression: 'SET body = :body',
        ExpressionAttributeValues: { ':body': 'changed' },
      }),
    );
    const late = { pk: 'row-3', body: 'late' };
    await outbox.client.send(new PutCommand({ TableName: outbox.name, Item: late }));

    expect(await between(1, 4)).toEqual([...rows.slice(1), late]);
  });

  it('brings nothing of a stream that is not there', async () => {
    const { streamArn, between } = await aStreamOf(1);
    const elsewhere = { streamArn: streamArn.replace('outbox-', 'gone-') };

    expect(await between(0, 0, elsewhere)).toBeUndefined();
  });

  it('brings nothing of a shard that is not there', async () => {
    const { between } = await aStreamOf(1);
    expect(await between(0, 0, { shardId: 'shardId-00000001795245426000-1f2e3d4c' })).toBeUndefined();
  });

  it('brings nothing of a part whose beginning the stream no longer has', async () => {
    const { between } = await aStreamOf(3);
    // The embedded engine numbers its records from 1, and reads on behind those that it has trimmed.
    expect(await between(0, 2, { startSequenceNumber: '0'.padStart(21, '0') })).toBeUndefined();
  });
});
