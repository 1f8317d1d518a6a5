import {
  DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ResourceNotFoundException,
  type _Record as StreamRecord,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { streamReader } from '../../../functions/store/outbox.ts';

const streams = mockClient(DynamoDBStreamsClient);
const read = streamReader(new DynamoDBStreamsClient({}));

const record = (number: string, eventName: StreamRecord['eventName'] = 'INSERT'): StreamRecord => ({
  eventName,
  dynamodb: { SequenceNumber: number, NewImage: { pk: { S: number } } },
});
const part = (startSequenceNumber: string, endSequenceNumber: string) => ({
  streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/outbox/stream/2026-11-20T00:00:00.000',
  shardId: 'shardId-00000001795245426000-1f2e3d4c',
  startSequenceNumber,
  endSequenceNumber,
});
const rows = (...numbers: string[]) => numbers.map((pk) => ({ pk }));

/** Answers one read after the other; after the last one the shard has ended. */
function answering(...pages: StreamRecord[][]): void {
  pages.forEach((Records, index) => {
    const next = index + 1 < pages.length ? { NextShardIterator: `page-${index + 1}` } : {};
    streams.on(GetRecordsCommand, { ShardIterator: `page-${index}` }).resolves({ Records, ...next });
  });
}

beforeEach(() => {
  streams.reset();
  streams.on(GetShardIteratorCommand).resolves({ ShardIterator: 'page-0' });
});

describe('reading a part of a shard', () => {
  it('begins at the number given', async () => {
    answering([record('7')]);
    await read(part('7', '7'));
    expect(streams.commandCalls(GetShardIteratorCommand).map(({ args }) => args[0].input)).toEqual([
      {
        StreamArn: part('7', '7').streamArn,
        ShardId: part('7', '7').shardId,
        ShardIteratorType: 'AT_SEQUENCE_NUMBER',
        SequenceNumber: '7',
      },
    ]);
  });

  it('goes on over pages, empty ones as well, and stops at the end given', async () => {
    answering([record('7')], [], [], [record('8', 'MODIFY'), record('9')], [record('10')], [record('11')]);
    expect(await read(part('7', '10'))).toEqual(rows('7', '9', '10'));
    expect(streams.commandCalls(GetRecordsCommand)).toHaveLength(5);
  });

  it('takes numbers for what they are, not for text', async () => {
    const [first, second, third] = ['9', '10', '100000000000000000000000000000000000001'];
    answering([record(first), record(second), record(third)]);
    expect(await read(part(first, second))).toEqual(rows(first, second));
  });

  it('stops before what comes after an end that is not there', async () => {
    answering([record('7'), record('12')]);
    expect(await read(part('7', '10'))).toEqual(rows('7'));
  });

  it('ends where the shard does', async () => {
    answering([record('7')], [record('8')]);
    expect(await read(part('7', '10'))).toEqual(rows('7', '8'));
  });

  it('gives up where nothing more comes, and not as if that were all', async () => {
    streams
      .on(GetRecordsCommand)
      .resolvesOnce({ Records: [record('7')], NextShardIterator: 'page-1' })
      .resolves({ Records: [], NextShardIterator: 'page-1' });
    await expect(read(part('7', '10'))).rejects.toThrow('was not read to the end');
  });
});

describe('a part that the stream has forgotten', () => {
  const forgotten = [
    new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} }),
    new ResourceNotFoundException({ message: 'no such shard', $metadata: {} }),
  ].map((error) => [error.name, error] as const);

  it.each(forgotten)('is told by a %s for where to begin', async (_name, error) => {
    streams.on(GetShardIteratorCommand).rejects(error);
    expect(await read(part('7', '10'))).toBeUndefined();
  });

  it.each(forgotten)('is told by a %s on the way', async (_name, error) => {
    streams.on(GetRecordsCommand).rejects(error);
    expect(await read(part('7', '10'))).toBeUndefined();
  });

  it('is told by records that begin behind it', async () => {
    answering([record('8'), record('9')]);
    expect(await read(part('7', '10'))).toBeUndefined();
  });

  it('is told by a shard that ends before it', async () => {
    answering([], []);
    expect(await read(part('7', '10'))).toBeUndefined();
  });
});

it('throws every other failure, so that the part is read again', async () => {
  streams
    .on(GetRecordsCommand)
    .rejects(new ExpiredIteratorException({ message: 'took too long', $metadata: {} }));
  await expect(read(part('7', '10'))).rejects.toThrow('took too long');
});
