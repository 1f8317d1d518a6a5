import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Table } from '../../../functions/aws/table.ts';
import type { TestTables } from '../../engines.ts';

export type Row = Record<string, unknown>;

/** Every row of a table. */
export async function rowsIn({ client, name: TableName }: Table): Promise<Row[]> {
  if (!(client instanceof DynamoDBClient)) throw new Error('these tables cannot be read as a whole');
  const rows: Row[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
    rows.push(...Items.map((item) => unmarshall(item)));
  return rows;
}

/** Every row of every table, by its table and key: `service org_…#webhooks whk_…`. */
export async function everyRow(tables: TestTables): Promise<Map<string, Row>> {
  const all = new Map<string, Row>();
  for (const [name, table] of Object.entries(tables))
    for (const row of await rowsIn(table)) all.set([name, row.pk, row.sk].join(' ').trim(), row);
  return all;
}
