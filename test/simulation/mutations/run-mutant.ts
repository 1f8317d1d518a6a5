import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Outcome } from '../simulate.ts';
import type { Mutation } from './mutation.ts';

/** The parameters of a mutant's thread. */
export interface MutantTask {
  mutation: Mutation;
  seeds: number;
  /** The stores of the world: doubles, or real stores of both versions of the code or of the present one. */
  by: 'doubles' | 'both versions' | 'the present version';
}

/**
 * Simulates a mutation with that many seeds.
 * @returns the first run that broke a promise, or the last one
 */
export async function runMutant(
  mutation: Mutation,
  seeds: number,
  by: MutantTask['by'] = 'doubles',
): Promise<Outcome> {
  const workerData: MutantTask = { mutation, seeds, by };
  const thread = new Worker(new URL('./mutant.ts', import.meta.url), { workerData });
  try {
    const [outcome] = await once(thread, 'message');
    return outcome as Outcome;
  } finally {
    await thread.terminate();
  }
}
