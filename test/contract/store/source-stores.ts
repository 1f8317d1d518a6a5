import { type Sources, sourcesIn } from '../../doubles/memory-sources.ts';
import { dynamoDb } from '../../engines.ts';

/** The stores of sources over tables that are new each time. */
export const newSourceStores =
  (engine = dynamoDb()) =>
  async (): Promise<Sources> =>
    sourcesIn(await engine.tables());
