import { DescribeTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { BatchGetCommand, DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { CREDENTIALS } from 'aws-local/engines/engines.ts';
import { startSqs } from 'aws-local/engines/sqs.ts';
import { parseRow, type Table } from '../../functions/aws/table.ts';
import { type Delivery, toDeliveryMessage } from '../../functions/delivery/delivery.ts';
import { type Lane, mapLanes } from '../../functions/delivery/lanes.ts';
import { deliveryQueues } from '../../functions/delivery/queues.ts';
import { buildDeliveryKey, parseDelivery } from '../../functions/delivery/rows.ts';

const NAMES = ['service', 'outbox', 'deliveries', 'rates', 'ledger'] as const;
export type RunTables = Record<(typeof NAMES)[number], Table>;

/**
 * The embedded engines, started apart from the local run that uses them, so that a benchmark can read them.
 */
export async function startRunEngines(directory: string) {
  const [dynamo, queues] = await Promise.all([startDynamoDb({ directory }), startSqs({ directory })]);
  const access = { region: 'us-east-1', credentials: CREDENTIALS };
  const plain = new DynamoDBClient({ ...access, endpoint: dynamo.endpoint });
  const streams = new DynamoDBStreamsClient({ ...access, endpoint: dynamo.endpoint });
  const sqs = new SQSClient({ ...access, endpoint: queues.endpoint });
  const client = DynamoDBDocumentClient.from(plain, { marshallOptions: { removeUndefinedValues: true } });

  async function tables(): Promise<RunTables> {
    const { TableNames = [] } = await plain.send(new ListTablesCommand({}));
    const named = (part: string): Table => {
      const name = TableNames.find((each) => each.toLowerCase().includes(`tables${part}`));
      if (name === undefined) throw new Error(`the run has no table ${part}`);
      return { client, name };
    };
    return {
      service: named('service'),
      outbox: named('outbox'),
      deliveries: named('deliveries'),
      rates: named('rates'),
      ledger: named('ledger'),
    };
  }

  async function queueUrls(): Promise<Record<Lane, string>> {
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
    const named = (lane: string): string => {
      const url = QueueUrls.find((each) => new RegExp(`delivery${lane}[0-9A-F]{8}$`, 'i').test(each));
      if (url === undefined) throw new Error(`the run has no queue ${lane}`);
      return url;
    };
    return mapLanes(named);
  }

  return {
    /** For the run's environment. */
    settings: { DYNAMODB_ENDPOINT: dynamo.endpoint, SQS_ENDPOINT: queues.endpoint },
    client,
    tables,

    /** Sends delayed delivery messages. */
    async remindOf(deliveries: readonly Delivery[], until: Date): Promise<void> {
      const urls = await queueUrls();
      const lanes = deliveryQueues(
        sqs,
        (lane: Lane) => urls[lane],
        () => new Date(),
      );
      for (let first = 0; first < deliveries.length; first += 200) {
        const some = deliveries.slice(first, first + 200);
        const refused = await lanes.send(
          'fresh',
          some.map((delivery) => ({ message: toDeliveryMessage(delivery), until })),
        );
        if (refused.length > 0) throw new Error('the queue refused delivery messages');
      }
    },

    /** The number of these deliveries in their table. */
    async countOf(deliveries: readonly Delivery[]): Promise<number> {
      const { name } = (await tables()).deliveries;
      let count = 0;
      for (let first = 0; first < deliveries.length; first += 100) {
        const Keys = deliveries
          .slice(first, first + 100)
          .map((delivery) => ({ ...buildDeliveryKey(delivery) }));
        const { Responses = {} } = await client.send(
          new BatchGetCommand({ RequestItems: { [name]: { Keys, ProjectionExpression: 'pk' } } }),
        );
        count += Responses[name]?.length ?? 0;
      }
      return count;
    },

    /** Messages in all queues: delayed, visible or in flight. */
    async messages(): Promise<number> {
      const counts = await Promise.all(
        Object.values(await queueUrls()).map(async (QueueUrl) => {
          const { Attributes } = await sqs.send(
            new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
          );
          const {
            ApproximateNumberOfMessages: visible,
            ApproximateNumberOfMessagesDelayed: delayed,
            ApproximateNumberOfMessagesNotVisible: hidden,
          } = Attributes ?? {};
          return Number(visible ?? 0) + Number(delayed ?? 0) + Number(hidden ?? 0);
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },

    /** All records of the deliveries' stream, from its beginning: each state that a row has had. */
    async *states(): AsyncGenerator<Delivery> {
      const { deliveries } = await tables();
      const { Table: table } = await plain.send(new DescribeTableCommand({ TableName: deliveries.name }));
      const StreamArn = table?.LatestStreamArn;
      const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
      for (const { ShardId } of StreamDescription?.Shards ?? []) {
        const begin = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
        let { ShardIterator } = await streams.send(new GetShardIteratorCommand(begin));
        for (let empty = 0; ShardIterator !== undefined && empty < 3; ) {
          const { Records = [], NextShardIterator } = await streams.send(
            new GetRecordsCommand({ ShardIterator }),
          );
          // The two clients have types of their own for one shape.
          for (const { dynamodb } of Records)
            if (dynamodb?.NewImage)
              yield parseDelivery(parseRow(dynamodb.NewImage as Parameters<typeof parseRow>[0]));
          empty = Records.length === 0 ? empty + 1 : 0;
          ShardIterator = NextShardIterator;
        }
      }
    },

    /** Every row of every table. */
    async *rows(): AsyncGenerator<Record<string, unknown>> {
      for (const { name: TableName } of Object.values(await tables()))
        for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
          yield* Items;
    },

    async stop(): Promise<void> {
      plain.destroy();
      streams.destroy();
      sqs.destroy();
      await queues.stop();
      await dynamo.stop();
    },
  };
}
export type RunEngines = Awaited<ReturnType<typeof startRunEngines>>;
