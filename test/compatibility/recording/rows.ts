import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Row } from '../../doubles/tables/expressions.ts';
import type { TableName } from '../../table-definitions.ts';

const NAME = /(Service|Outbox|Deliveries|Rates|Ledger|Knowledge|Usage|Mailings)Table/;

export type TableRows = Partial<Record<TableName, Row[]>>;

/** Every row of every table of an engine. */
export async function rowsIn(endpoint: string): Promise<TableRows> {
  const access = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const plain = new DynamoDBClient({ endpoint, ...access });
  const client = DynamoDBDocumentClient.from(plain);
  const rows: TableRows = {};
  const { TableNames = [] } = await plain.send(new ListTablesCommand({}));
  for (const name of TableNames) {
    const table = NAME.exec(name)?.[1]?.toLowerCase() as TableName | undefined;
    if (table === undefined) throw new Error(`${name} is a table of nothing that is known here`);
    const collected: Row[] = [];
    for await (const page of paginateScan({ client }, { TableName: name, ConsistentRead: true }))
      collected.push(...(page.Items ?? []));
    rows[table] = collected;
  }
  plain.destroy();
  return rows;
}
