import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { SQSClient } from '@aws-sdk/client-sqs';
import { REGION } from '../arns.ts';
import { describeEngineError } from '../engine-errors.ts';
import { type WaitForChange, waitForInterval, watchChanges } from '../sources/change-signals.ts';
import { type Queues, queuesOfApi } from '../sources/queues.ts';
import { recordsOfApi, type StreamRecords } from '../sources/record-reader.ts';
import { type DynamoDbEngine, startDynamoDb } from './dynamodb.ts';
import type { ReadUpTo } from './dynoxide-database.ts';
import type { SnsStore } from './fauxqs.ts';
import { startSqs } from './sqs.ts';
import { startSweeper } from './sweeper.ts';

/** Engines require credentials but do not check them. */
export const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** DynamoDB and SQS, embedded or supplied by the user, with clients. */
export interface Engines {
  endpoints: { dynamodb: string; sqs: string; sns?: string };
  /** Only an embedded engine needs maintenance. */
  embeddedDynamoDb: DynamoDbEngine | undefined;
  /** PID of the embedded DynamoDB, if it runs. */
  processId(): number | undefined;
  /** Signals a stream's reader to poll again. */
  changeReader: (table: string) => WaitForChange;
  records: StreamRecords;
  dynamodb: DynamoDBClient;
  sqs: SQSClient;
  queues: Queues;
  /** Undefined with another SQS. */
  topics: SnsStore | undefined;
}

/**
 * Starts the embedded engines, or connects to those supplied. `started` stops what it started.
 * @throws LocalRunError when an engine does not start
 */
export async function startEngines(
  options: { directory: string; dynamodbEndpoint?: string; sqsEndpoint?: string },
  started: AsyncDisposableStack,
): Promise<Engines> {
  const { directory, dynamodbEndpoint, sqsEndpoint } = options;
  const embeddedDynamoDb = dynamodbEndpoint ? undefined : await startDynamoDb({ directory });
  if (embeddedDynamoDb) started.defer(() => embeddedDynamoDb.stop());
  const changes = embeddedDynamoDb && watchChanges(embeddedDynamoDb);
  if (changes) started.defer(() => changes.close());
  const embeddedSqs = sqsEndpoint ? undefined : await startSqs({ directory });
  if (embeddedSqs) started.defer(() => embeddedSqs.stop());

  const endpoints = {
    dynamodb: dynamodbEndpoint ?? embeddedDynamoDb?.endpoint ?? '',
    sqs: sqsEndpoint ?? embeddedSqs?.endpoint ?? '',
    ...(embeddedSqs && { sns: embeddedSqs.endpoint }),
  };
  const common = { region: REGION, credentials: CREDENTIALS };
  const dynamodb = started.adopt(new DynamoDBClient({ ...common, endpoint: endpoints.dynamodb }), (it) =>
    it.destroy(),
  );
  const streams = started.adopt(
    new DynamoDBStreamsClient({ ...common, endpoint: endpoints.dynamodb }),
    (it) => it.destroy(),
  );
  const sqs = started.adopt(new SQSClient({ ...common, endpoint: endpoints.sqs }), (it) => it.destroy());
  return {
    endpoints,
    embeddedDynamoDb,
    processId: () => embeddedDynamoDb?.processId(),
    changeReader: (table) => changes?.reader(table) ?? waitForInterval,
    records: embeddedDynamoDb?.database ?? recordsOfApi(streams),
    dynamodb,
    sqs,
    queues: embeddedSqs?.queues ?? queuesOfApi(sqs),
    topics: embeddedSqs?.topics,
  };
}

/**
 * Starts what DynamoDB does by itself and the embedded one does not: deleting expired items and old stream
 * records.
 */
export function startUpkeep(
  { embeddedDynamoDb, dynamodb: client }: Engines,
  started: AsyncDisposableStack,
  readUpTo: ReadUpTo,
  log: (line: { source: string; text: string }) => void,
): void {
  if (!embeddedDynamoDb) return;
  const onError = (error: unknown): void =>
    log({ source: 'dynamodb', text: `upkeep failed: ${describeEngineError(error)}` });
  const sweeper = startSweeper({ database: embeddedDynamoDb.database, client, readUpTo, onError });
  started.defer(() => sweeper.stop());
}
