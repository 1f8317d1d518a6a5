import { type Sources, sourcesIn } from '../../doubles/memory-sources.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb } from '../../engines.ts';

/** The stores of sources in both engines, new for each test. */
export function sourceStoreKinds(engine = dynamoDb()): [name: string, make: () => Promise<Sources>][] {
  return [
    ['memory', async () => sourcesIn(memoryTables())],
    ['dynamodb', async () => sourcesIn(await engine.tables())],
  ];
}
