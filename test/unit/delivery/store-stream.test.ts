import {
  DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { streamReader } from '../../../functions/delivery/outbox-readers.ts';

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

/** Answers one read after the other; the shard ends after the last one. */
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

describe("reader of a shard's part", () => {
  it('continues over empty pages, and stops at the given end', async () => {
    answering([record('7')], [], [], [record('8', 'MODIFY'), record('9')], [record('10')], [record('11')]);
    expect(await read(part('7', '10'))).toEqual(rows('7', '9', '10'));
    expect(streams.commandCalls(GetRecordsCommand)).toHaveLength(5);
  });

  it('compares sequence numbers as numbers, not as text', async () => {
    const [first, second, third] = ['9', '10', '100000000000000000000000000000000000001'];
    answering([record(first), record(second), record(third)]);
    expect(await read(part(first, second))).toEqual(rows(first, second));
  });

  it('stops before a record that follows a missing end', async () => {
    answering([record('7'), record('12')]);
    expect(await read(part('7', '10'))).toEqual(rows('7'));
  });

  it('ends where the shard ends', async () => {
    answering([record('7')], [record('8')]);
    expect(await read(part('7', '10'))).toEqual(rows('7', '8'));
  });

  it('fails when no more records come before the end', async () => {
    streams
      .on(GetRecordsCommand)
      .resolvesOnce({ Records: [record('7')], NextShardIterator: 'page-1' })
      .resolves({ Records: [], NextShardIterator: 'page-1' });
    await expect(read(part('7', '10'))).rejects.toThrow('was not read to the end');
  });
});

describe('part that the stream has dropped', () => {
  it.each([GetShardIteratorCommand, GetRecordsCommand])(
    'is recognized by an error of %o',
    async (Command) => {
      streams
        .on(Command as typeof GetRecordsCommand)
        .rejects(new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} }));
      expect(await read(part('7', '10'))).toBeUndefined();
    },
  );

  it('is recognized by a shard that ends before it', async () => {
    answering([], []);
    expect(await read(part('7', '10'))).toBeUndefined();
  });
});

it('the stream reader throws any other error, so that the part is read again', async () => {
  streams
    .on(GetRecordsCommand)
    .rejects(new ExpiredIteratorException({ message: 'took too long', $metadata: {} }));
  await expect(read(part('7', '10'))).rejects.toThrow('took too long');
});
