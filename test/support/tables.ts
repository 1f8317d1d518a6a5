import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { DynoxideDatabase } from 'aws-local/engines/dynoxide-database.ts';
import { CREDENTIALS } from 'aws-local/engines/engines.ts';
import { runningProcess } from 'aws-local/engines/processes.ts';

/** An item as it is stored. */
export interface Row {
  table: string;
  item: Record<string, unknown>;
}

/** A record of a stream, with its position. */
interface Streamed {
  streamArn: string;
  shardId: string;
  record: _Record;
}

/** Reads and changes the tables directly, without the service. */
export interface TablesBehind {
  /**
   * Every item of every table, read from the engine's files: scans would take most of the engine's time, and
   * more with every test.
   * @param texts only the items that contain one of them; texts without characters that JSON escapes, such as
   * ids
   * @param name only of this table, as in the stack, for example `Usage`: the others take most of the time
   */
  rows(texts?: readonly string[], name?: string): Promise<Row[]>;
  /** Replaces an item by its key, for example to let time pass. */
  rewrite(row: Row): Promise<void>;
  /** Deletes an item of a table whose items have a partition and a sort key. */
  remove(row: Row): Promise<void>;
  /** Deletes a table, whose requests then fail. @param name in the stack, for example `Usage` */
  drop(name: string): Promise<void>;
  /**
   * The position of the stream record that reports a row's addition.
   * @throws Error when there is none
   */
  streamed(row: Row): Promise<Streamed>;
  close(): void;
}

/**
 * Finds the database of the embedded DynamoDB in the engine's process, because the run does not expose it.
 * @param processIds of the run, the engine's among them
 * @param streamArns of the streams that the run reads: the engine names them otherwise
 * @throws Error when it is not found
 */
export function tablesBehind(
  processIds: readonly number[],
  streamArns: readonly string[] = [],
): TablesBehind {
  const [, port, file] =
    processIds
      .map((id) => / --port (\d+) --db-path (.+)$/.exec(runningProcess(id)?.command ?? ''))
      .find((found) => found !== null) ?? [];
  if (port === undefined || file === undefined)
    throw new Error('the embedded DynamoDB is not among the processes of the run');
  const database = DynoxideDatabase.openReadOnly(file);
  const engine = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: CREDENTIALS,
  };
  const plain = new DynamoDBClient(engine);
  const streams = new DynamoDBStreamsClient(engine);
  const client = DynamoDBDocumentClient.from(plain);
  return {
    async rows(texts, name) {
      return database
        .tables()
        .filter((table) => name === undefined || table.includes(`Tables${name}`))
        .flatMap((table) =>
          database.items(table, texts).map((item) => ({
            table,
            item: unmarshall(JSON.parse(item, bytes)),
          })),
        );
    },
    async rewrite({ table, item }) {
      await client.send(new PutCommand({ TableName: table, Item: item }));
    },
    async remove({ table, item: { pk, sk } }) {
      await client.send(new DeleteCommand({ TableName: table, Key: { pk, sk } }));
    },
    async drop(name) {
      const TableName = database
        .tables()
        .find((table) => name === undefined || table.includes(`Tables${name}`));
      await client.send(new DeleteTableCommand({ TableName }));
    },
    async streamed(row) {
      const streamArn = streamArns.find((arn) => arn.includes(`:table/${row.table}/stream/`));
      if (streamArn === undefined) throw new Error(`nothing reads a stream of ${row.table}`);
      return additionOf(row, streamArn, streams);
    },
    close() {
      database.close();
      streams.destroy();
      plain.destroy();
    },
  };
}

async function additionOf(
  { table, item }: Row,
  streamArn: string,
  streams: DynamoDBStreamsClient,
): Promise<Streamed> {
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: streamArn }));
  for (const { ShardId: shardId = '' } of StreamDescription?.Shards ?? []) {
    const { ShardIterator } = await streams.send(
      new GetShardIteratorCommand({
        StreamArn: streamArn,
        ShardId: shardId,
        ShardIteratorType: 'TRIM_HORIZON',
      }),
    );
    // An open shard always has a next iterator: an empty page means that all earlier records were read.
    for (let iterator = ShardIterator; iterator !== undefined; ) {
      const { Records = [], NextShardIterator } = await streams.send(
        new GetRecordsCommand({ ShardIterator: iterator }),
      );
      const record = Records.find(
        ({ eventName, dynamodb }) =>
          eventName === 'INSERT' && dynamodb?.Keys?.pk?.S === item.pk && dynamodb?.Keys?.sk?.S === item.sk,
      );
      if (record !== undefined) return { streamArn, shardId, record };
      iterator = Records.length === 0 ? undefined : NextShardIterator;
    }
  }
  throw new Error(
    `the stream of ${table} has no record of the addition of ${String(item.pk)}, ${String(item.sk)}`,
  );
}

/** In JSON bytes are Base64. */
const bytes = (key: string, value: unknown): unknown =>
  key === 'B' && typeof value === 'string' ? Buffer.from(value, 'base64') : value;
