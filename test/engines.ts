import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import type { Table } from '../functions/store/table.ts';
import { startDynamoDb } from '../lib/local/engines/dynamodb.ts';
import type { Engine } from '../lib/local/engines/engine.ts';
import { startSqs } from '../lib/local/engines/sqs.ts';
import { refuseAsDynamoDb } from './support/as-dynamodb.ts';
import { PATIENCE } from './support/patience.ts';
import { TABLE_DEFINITIONS, type TableName } from './table-definitions.ts';

export { TABLE_DEFINITIONS };
export type TestTables = Record<TableName, Table>;

/** Clients of one engine under test. */
interface Clients {
  /** A new client each time, so that a test can add its own middleware. */
  client(): DynamoDBDocumentClient;
  /** A client for the tables' streams. */
  streams(): DynamoDBStreamsClient;
  /** The stack's tables, empty and with names of their own. */
  tables(client?: DynamoDBDocumentClient): Promise<TestTables>;
}

/**
 * A DynamoDB for the tests of this file: the one at `DYNAMODB_ENDPOINT`, or the embedded one in a temporary directory, started
 * before them and stopped after them.
 */
export function dynamoDb(): Clients {
  const endpoint = engineOf(process.env.DYNAMODB_ENDPOINT, startDynamoDb);
  const created: string[] = [];
  const clients: { destroy(): void }[] = [];
  const client = () => {
    const plain = refuseAsDynamoDb(
      new DynamoDBClient({ ...ACCESS, endpoint: endpoint(), maxAttempts: ATTEMPTS * PATIENCE }),
    );
    clients.push(plain);
    return DynamoDBDocumentClient.from(plain, { marshallOptions: { removeUndefinedValues: true } });
  };

  afterAll(async () => {
    const last = client();
    await Promise.all(created.map((TableName) => last.send(new DeleteTableCommand({ TableName }))));
    for (const each of clients) each.destroy();
  });

  return {
    client,
    streams() {
      const streams = refuseAsDynamoDb(new DynamoDBStreamsClient({ ...ACCESS, endpoint: endpoint() }));
      clients.push(streams);
      return streams;
    },
    async tables(ours = client()) {
      const run = randomUUID();
      const create = async (name: TableName): Promise<Table> => {
        const TableName = `${name}-${run}`;
        await ours.send(
          new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', ...TABLE_DEFINITIONS[name] }),
        );
        created.push(TableName);
        await waitUntilTableExists({ client: ours, maxWaitTime: 20 * PATIENCE, minDelay: 1 }, { TableName });
        return { client: ours, name: TableName };
      };
      const names = Object.keys(TABLE_DEFINITIONS) as TableName[];
      const made = await Promise.all(names.map(async (name) => [name, await create(name)] as const));
      return Object.fromEntries(made) as TestTables;
    },
  };
}

/** An SQS for the tests of this file: the one at `SQS_ENDPOINT`, or the embedded one. */
export function sqs() {
  const endpoint = engineOf(process.env.SQS_ENDPOINT, startSqs);
  let client: SQSClient | undefined;
  const created: string[] = [];
  const ours = () => {
    client ??= new SQSClient({ ...ACCESS, endpoint: endpoint() });
    return client;
  };

  afterAll(async () => {
    await Promise.all(created.map((QueueUrl) => ours().send(new DeleteQueueCommand({ QueueUrl }))));
    client?.destroy();
  });

  const create = async (Attributes: Record<string, string>): Promise<string> => {
    const { QueueUrl = '' } = await ours().send(
      new CreateQueueCommand({ QueueName: `queue-${randomUUID()}`, Attributes }),
    );
    created.push(QueueUrl);
    return QueueUrl;
  };

  return {
    client: ours,
    endpoint,
    /** An empty queue that gives a message up after so many receives, and the queue of what it gave up. */
    async queues(terms: { visibilitySeconds: number; maxReceives: number }) {
      const deadLetterUrl = await create({});
      const { Attributes } = await ours().send(
        new GetQueueAttributesCommand({ QueueUrl: deadLetterUrl, AttributeNames: ['QueueArn'] }),
      );
      const url = await create({
        VisibilityTimeout: String(terms.visibilitySeconds),
        RedrivePolicy: JSON.stringify({
          deadLetterTargetArn: Attributes?.QueueArn,
          maxReceiveCount: terms.maxReceives,
        }),
      });
      return { url, deadLetterUrl };
    },
  };
}

/** As many as the SDK makes by default. A slow engine gives up requests that it keeps waiting for a lock. */
const ATTEMPTS = 3;
const ACCESS = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };

/** The endpoint of an engine that runs while this file's tests do. */
function engineOf(
  given: string | undefined,
  start: (options: { directory: string }) => Promise<Engine>,
): () => string {
  let endpoint = given;
  if (given === undefined) {
    const directory = mkdtempSync(join(tmpdir(), 'engine-'));
    let engine: Engine | undefined;
    beforeAll(async () => {
      engine = await start({ directory });
      endpoint = engine.endpoint;
    });
    // Hooks after the tests run in the reverse order of their registration: clients are gone by now.
    afterAll(async () => {
      await engine?.stop();
      rmSync(directory, { recursive: true, force: true });
    });
  }
  return () => {
    if (endpoint === undefined) throw new Error('the engine runs only while the tests do');
    return endpoint;
  };
}
