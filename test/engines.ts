import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { ACCESS, engineOf } from 'aws-local/test/engines.ts';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll } from 'vitest';
import type { Table } from '../functions/store/table.ts';
import { refuseAsDynamoDb } from './support/as-dynamodb.ts';
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
 * A DynamoDB for the tests of this file: the one at `DYNAMODB_ENDPOINT`, or the embedded one in a temporary
 * directory, which runs during the tests.
 */
export function dynamoDb(): Clients {
  const outside = process.env.DYNAMODB_ENDPOINT;
  const endpoint = engineOf(outside, startDynamoDb);
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
    // Tables of the embedded engine are deleted with its directory.
    if (outside)
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
        // In the embedded engine a table is active as soon as it is created.
        if (outside)
          await waitUntilTableExists(
            { client: ours, maxWaitTime: 20 * PATIENCE, minDelay: 1 },
            { TableName },
          );
        return { client: ours, name: TableName };
      };
      const names = Object.keys(TABLE_DEFINITIONS) as TableName[];
      const made = await Promise.all(names.map(async (name) => [name, await create(name)] as const));
      return Object.fromEntries(made) as TestTables;
    },
  };
}

/** The SDK's default. A slow engine refuses requests that wait too long for a lock. */
const ATTEMPTS = 3;
