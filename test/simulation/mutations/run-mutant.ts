import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Outcome } from '../simulate.ts';
import type { Mutation } from './mutation.ts';

/** What a mutant's thread is given. */
export interface MutantTask {
  mutation: Mutation;
  seeds: number;
  /**
   * What keeps the world's data: the stores' doubles, or the stores, of both versions of the code or of the
   * present one.
   */
  by: 'doubles' | 'both versions' | 'the present version';
}

/**
 * Simulates a mutation with as many seeds. @returns the first run in which a promise did not hold, or the
 * last one
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
