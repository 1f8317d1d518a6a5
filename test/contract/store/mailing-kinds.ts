import type { Table } from '../../../functions/aws/table.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb } from '../../engines.ts';

/** The table of e-mails in both engines, new for each test. */
export function mailingKinds(engine = dynamoDb()): [name: string, make: () => Promise<Table>][] {
  return [
    ['memory', async () => memoryTables().mailings],
    ['dynamodb', async () => (await engine.tables()).mailings],
  ];
}
