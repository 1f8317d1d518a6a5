import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Outcome } from '../simulate.ts';
import type { Mutation } from './mutation.ts';

/** The parameters of a mutant's thread. */
export interface MutantTask {
  mutation: Mutation;
  seeds: number;
}

/**
 * Simulates a mutation with that many seeds.
 * @returns the first run that broke a promise, or the last one
 */
export async function runMutant(mutation: Mutation, seeds: number): Promise<Outcome> {
  const workerData: MutantTask = { mutation, seeds };
  const thread = new Worker(new URL('./mutant.ts', import.meta.url), { workerData });
  try {
    const [outcome] = await once(thread, 'message');
    return outcome as Outcome;
  } finally {
    await thread.terminate();
  }
}
