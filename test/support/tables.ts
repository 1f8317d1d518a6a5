import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { CREDENTIALS } from '../../lib/local/engines/engines.ts';
import { runningProcess } from '../../lib/local/engines/processes.ts';

/** An item as it is stored. */
export interface Row {
  table: string;
  item: Record<string, unknown>;
}

/** Looks into the tables behind the service's back. */
export interface TablesBehind {
  rows(): Promise<Row[]>;
  /** Puts an item in the place of the one with its key: time passes faster so. */
  rewrite(row: Row): Promise<void>;
  close(): void;
}

/**
 * The run does not say where its embedded DynamoDB listens; the engine's process does.
 * @param processIds of the run, the engine's among them
 * @throws Error when it is not
 */
export function tablesBehind(processIds: readonly number[]): TablesBehind {
  const [port] = processIds.flatMap(
    (id) => / --port (\d+) --db-path /.exec(runningProcess(id)?.command ?? '')?.[1] ?? [],
  );
  if (port === undefined) throw new Error('the embedded DynamoDB is not among the processes of the run');
  const plain = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: CREDENTIALS,
  });
  const client = DynamoDBDocumentClient.from(plain);
  return {
    async rows() {
      const found: Row[] = [];
      const { TableNames = [] } = await plain.send(new ListTablesCommand({}));
      for (const table of TableNames)
        for await (const page of paginateScan({ client }, { TableName: table, ConsistentRead: true }))
          found.push(...(page.Items ?? []).map((item) => ({ table, item })));
      return found;
    },
    async rewrite({ table, item }) {
      await client.send(new PutCommand({ TableName: table, Item: item }));
    },
    close: () => plain.destroy(),
  };
}
