import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ResourceNotFoundException,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { Defect } from '../domain/problem.ts';
import { outboxStore } from './outbox.ts';
import { rowOf, type Table } from './table.ts';

/** A part of a shard, its ends included. */
export interface StreamRange {
  streamArn: string;
  shardId: string;
  startSequenceNumber: string;
  endSequenceNumber: string;
}

/**
 * Reads that bring nothing are possible anywhere in a shard; so many in a row mean that it ended before the
 * range did.
 */
const MOST_EMPTY_READS = 20;

/**
 * Rows that a part of a stream says were inserted. For records that a mapping gave up: the mapping itself
 * reads on.
 * @returns undefined when the stream no longer has them, after 24 hours
 * @throws Error when only a part of them could be read
 */
export function streamReader(client: DynamoDBStreamsClient) {
  return async ({
    streamArn,
    shardId,
    startSequenceNumber,
    endSequenceNumber,
  }: StreamRange): Promise<Record<string, unknown>[] | undefined> => {
    const end = BigInt(endSequenceNumber);
    let begun = false;
    const rows: Record<string, unknown>[] = [];
    try {
      let { ShardIterator: iterator } = await client.send(
        new GetShardIteratorCommand({
          StreamArn: streamArn,
          ShardId: shardId,
          ShardIteratorType: 'AT_SEQUENCE_NUMBER',
          SequenceNumber: startSequenceNumber,
        }),
      );
      for (let empty = 0; iterator !== undefined && empty < MOST_EMPTY_READS; ) {
        const { Records = [], NextShardIterator } = await client.send(
          new GetRecordsCommand({ ShardIterator: iterator }),
        );
        for (const { eventName, dynamodb } of Records) {
          const sequence = BigInt(dynamodb?.SequenceNumber ?? 0);
          // A stream may read on behind what it has trimmed.
          if (!begun && sequence > BigInt(startSequenceNumber)) return undefined;
          begun = true;
          if (sequence > end) return rows;
          // The two clients have types of their own for one shape.
          if (eventName === 'INSERT') rows.push(rowOf(dynamodb?.NewImage as Record<string, AttributeValue>));
          if (sequence === end) return rows;
        }
        empty = Records.length === 0 ? empty + 1 : 0;
        iterator = NextShardIterator;
      }
      if (!begun) return undefined;
      // Where the shard ends, there is nothing more. Where reads only brought nothing, there may be.
      if (iterator === undefined) return rows;
      throw new Defect(`${shardId} was not read to the end of what was asked for`);
    } catch (error) {
      if (error instanceof TrimmedDataAccessException || error instanceof ResourceNotFoundException)
        return undefined;
      throw error;
    }
  };
}

/**
 * Entries of the outbox for one of its readers: by the records that told of them, and by their keys. For what
 * the stream itself does not repeat.
 * @param read what a row is for the reader; undefined when it is for others
 */
export function outboxEntries<T>(
  outbox: Table,
  streams: DynamoDBStreamsClient,
  read: (row: Record<string, unknown>) => T | undefined,
) {
  const { find } = outboxStore(outbox);
  const readStream = streamReader(streams);
  return {
    stream: {
      /** Undefined when the stream has forgotten them. @throws as `streamReader` */
      read: async (records: StreamRange): Promise<T[] | undefined> =>
        (await readStream(records))?.flatMap((row) => read(row) ?? []),
    },
    outbox: {
      async find(id: string): Promise<T | undefined> {
        const row = await find(id);
        return row && read(row);
      },
    },
  };
}
