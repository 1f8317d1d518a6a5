import { versions } from '../../compatibility/versions.ts';
import { type Outcome, simulate } from '../simulate.ts';
import { TableStores } from './table-stores.ts';

/**
 * Simulates a seed with processes of the present and of the previous version of the code, on the same tables,
 * queues and streams.
 */
export async function simulateVersions(seed: number, trace?: (line: string) => void): Promise<Outcome> {
  const both = await versions();
  return simulate(seed, trace, (world) => new TableStores(world, both));
}

/** The same with processes of the present version only. */
export async function simulateAlone(seed: number): Promise<Outcome> {
  const { present } = await versions();
  return simulate(seed, undefined, (world) => new TableStores(world, { present, previous: present }));
}
