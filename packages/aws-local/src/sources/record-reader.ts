import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
  type ShardIteratorType,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { type StreamRecord, toStreamRecord } from './stream-records.ts';

export interface RecordPage {
  records: readonly StreamRecord[];
  /** Whether the shard is closed and has been read to its end. */
  isClosed: boolean;
}

/** Reads a shard page by page. */
export interface RecordReader {
  next(limit: number, signal: AbortSignal): Promise<RecordPage>;
}

export interface RecordStart {
  streamArn: string;
  shardId: string;
  /** Sequence number of the last record that was read; undefined to begin at `startingPosition`. */
  position: string | undefined;
  startingPosition: ShardIteratorType;
}

/** Reads streams: their shards and the records in them. */
export interface StreamRecords {
  shards(
    streamArn: string,
    signal: AbortSignal,
  ): Promise<readonly Pick<Shard, 'ShardId' | 'ParentShardId'>[]>;
  open(start: RecordStart): Promise<RecordReader>;
}

/** Reads through the API of DynamoDB Streams, which every engine has. */
export const recordsOfApi = (streams: DynamoDBStreamsClient): StreamRecords => ({
  async shards(StreamArn, abortSignal) {
    const shards: Shard[] = [];
    let ExclusiveStartShardId: string | undefined;
    do {
      const command = new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId });
      const { StreamDescription } = await streams.send(command, { abortSignal });
      shards.push(...(StreamDescription?.Shards ?? []));
      ExclusiveStartShardId = StreamDescription?.LastEvaluatedShardId;
    } while (ExclusiveStartShardId !== undefined);
    return shards;
  },
  async open(start) {
    let iterator = await openIterator(streams, start);
    return {
      async next(Limit, signal) {
        const command = new GetRecordsCommand({ ShardIterator: iterator, Limit });
        const { Records = [], NextShardIterator } = await streams.send(command, { abortSignal: signal });
        iterator = NextShardIterator;
        return {
          records: Records.map((record) => toStreamRecord(record, start.streamArn)),
          isClosed: iterator === undefined,
        };
      },
    };
  },
});

async function openIterator(
  streams: DynamoDBStreamsClient,
  { streamArn, shardId, position, startingPosition }: RecordStart,
): Promise<string | undefined> {
  const iteratorAt = async (
    ShardIteratorType: ShardIteratorType,
    SequenceNumber?: string,
  ): Promise<string | undefined> => {
    const place = { ShardIteratorType, SequenceNumber };
    const command = new GetShardIteratorCommand({ StreamArn: streamArn, ShardId: shardId, ...place });
    return (await streams.send(command)).ShardIterator;
  };
  if (position === undefined) return iteratorAt(startingPosition);
  try {
    return await iteratorAt('AFTER_SEQUENCE_NUMBER', position);
  } catch (error) {
    if (!(error instanceof TrimmedDataAccessException)) throw error;
    return iteratorAt('TRIM_HORIZON');
  }
}
