import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { ACCESS, engineOf } from 'aws-local/test/engines.ts';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll } from 'vitest';
import { leanClientOptions } from '../functions/aws/clients.ts';
import type { Table } from '../functions/aws/table.ts';
import { startMemoryDynamoDb } from './doubles/tables/memory-engine.ts';
import { refuseAsDynamoDb } from './support/as-dynamodb.ts';
import { TABLE_DEFINITIONS, type TableDefinition, type TableName } from './table-definitions.ts';

export type TestTables = Record<TableName, Table>;

/** Clients of one engine under test. */
interface Clients {
  /** A new client each time, so that a test can add its own middleware. */
  client(): DynamoDBClient;
  /** A client for the tables' streams. */
  streams(): DynamoDBStreamsClient;
  /**
   * The stack's tables, empty and with names of their own. Each is created before its first request, because
   * most tests use one or two; only clients of {@link client} do that.
   */
  tables(client?: DynamoDBClient): Promise<TestTables>;
  /** The same tables, created at once: for functions, which have clients of their own. */
  createdTables(): Promise<TestTables>;
}

/**
 * A DynamoDB for the tests of this file: the one at `DYNAMODB_ENDPOINT`, or one that runs during the tests:
 * the tables in memory where `DYNAMODB_ENGINE` says so, otherwise the embedded one in a temporary directory.
 */
export function dynamoDb(): Clients {
  const outside = process.env.DYNAMODB_ENDPOINT;
  const isInMemory = process.env.DYNAMODB_ENGINE === 'memory';
  const endpoint = engineOf(outside, isInMemory ? startMemoryDynamoDb : startDynamoDb);
  const created: string[] = [];
  const clients: { destroy(): void }[] = [];
  /** Creates a table once, by name. */
  const creations = new Map<string, () => Promise<void>>();
  const plainClient = (): DynamoDBClient => {
    const plain = refuseAsDynamoDb(
      new DynamoDBClient({
        ...leanClientOptions('dynamodb', LOCAL),
        region: ACCESS.region,
        endpoint: endpoint(),
        maxAttempts: ATTEMPTS * PATIENCE,
        // Tests add steps to clients, and send commands of lib-dynamodb, which cannot be kept.
        cacheMiddleware: false,
      }),
    );
    clients.push(plain);
    return plain;
  };
  const client = () => createFirst(plainClient(), (name) => creations.get(name)?.());
  let creator: DynamoDBClient | undefined;
  const create = async (TableName: string, definition: TableDefinition): Promise<void> => {
    creator ??= plainClient();
    await creator.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', ...definition }));
    created.push(TableName);
    // In the embedded engine a table is active as soon as it is created.
    if (outside)
      await waitUntilTableExists({ client: creator, maxWaitTime: 20 * PATIENCE, minDelay: 1 }, { TableName });
  };
  const tables = async (ours = client()): Promise<TestTables> => {
    const run = randomUUID();
    const define = (name: TableName): Table => {
      const tableName = `${name}-${run}`;
      creations.set(
        tableName,
        memoize(() => create(tableName, TABLE_DEFINITIONS[name])),
      );
      return { client: ours, name: tableName };
    };
    const names = Object.keys(TABLE_DEFINITIONS) as TableName[];
    return Object.fromEntries(names.map((name) => [name, define(name)])) as TestTables;
  };

  afterAll(async () => {
    // Tables of the embedded engine are deleted with its directory.
    if (outside) {
      const last = client();
      await Promise.all(created.map((TableName) => last.send(new DeleteTableCommand({ TableName }))));
    }
    for (const each of clients) each.destroy();
  });

  return {
    client,
    streams() {
      const streams = refuseAsDynamoDb(new DynamoDBStreamsClient({ ...ACCESS, endpoint: endpoint() }));
      clients.push(streams);
      return streams;
    },
    tables,
    async createdTables() {
      const made = await tables();
      await Promise.all(Object.values(made).map(({ name }) => creations.get(name)?.()));
      return made;
    },
  };
}

/** Calls `create` with the name of each table of a request before the request is sent. */
function createFirst(
  client: DynamoDBClient,
  create: (table: string) => Promise<void> | undefined,
): DynamoDBClient {
  client.middlewareStack.add(
    (next) => async (args) => {
      await Promise.all(tablesIn(args.input).map(create));
      return next(args);
    },
    { step: 'initialize', priority: 'high', name: 'createFirst' },
  );
  return client;
}

/** Names of the tables of a request: of one item, of a batch, or of a transaction. */
function tablesIn(input: unknown): string[] {
  const { TableName, RequestItems, TransactItems = [] } = Object(input);
  const inTransaction = TransactItems.flatMap((item: object) =>
    Object.values(item).map((action) => Object(action).TableName),
  );
  return [TableName, ...Object.keys(RequestItems ?? {}), ...inTransaction].filter(
    (name) => name !== undefined,
  );
}

function memoize(action: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= action());
}

/** The SDK's default. A slow engine refuses requests that wait too long for a lock. */
const ATTEMPTS = 3;
/** What the functions' clients read from the environment of a function, and a limit for busy machines. */
const LOCAL = {
  credentials: async () => ACCESS.credentials,
  region: () => ACCESS.region,
  requestMs: 30_000 * PATIENCE,
};
