import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { memoryTables } from '../doubles/tables/stack-tables.ts';
import { dynamoDb, type TestTables } from '../engines.ts';
import type { TableName } from '../table-definitions.ts';
import type { Fixture } from './recording/fixture.ts';

/** Maximum of items in one request to DynamoDB. */
const BATCH = 25;

/** Writes the items of a fixture unchanged into empty tables. */
async function load(tables: TestTables, fixture: Fixture): Promise<TestTables> {
  for (const [table, rows] of Object.entries(fixture.tables)) {
    const { client, name } = tables[table as TableName];
    for (let from = 0; from < rows.length; from += BATCH) {
      const requests = rows.slice(from, from + BATCH).map((Item) => ({ PutRequest: { Item } }));
      await client.send(new BatchWriteCommand({ RequestItems: { [name]: requests } }));
    }
  }
  return tables;
}

/** Tables with the items of a fixture. */
export interface TableKind {
  name: string;
  load(fixture: Fixture): Promise<TestTables>;
}

/** In memory, and in the engine. */
export function tableKinds(engine = dynamoDb()): { memory: TableKind; engine: TableKind } {
  return {
    memory: { name: 'in memory', load: (fixture) => load(memoryTables(), fixture) },
    engine: { name: 'in the engine', load: async (fixture) => load(await engine.tables(), fixture) },
  };
}
