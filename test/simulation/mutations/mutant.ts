import { parentPort, workerData } from 'node:worker_threads';
import type { Outcome } from '../simulate.ts';
import { loadMutated } from './load-mutated.ts';
import type { MutantTask } from './run-mutant.ts';

/* A thread that simulates a mutation, seed after seed, until a promise is broken. */
const { mutation, seeds } = workerData as MutantTask;

loadMutated(mutation);
const { simulate } = await import('../simulate.ts');

const { firstSeed = 1 } = mutation;
let outcome: Outcome | undefined;
for (let seed = firstSeed; seed < firstSeed + seeds && outcome?.violation === undefined; seed += 1)
  outcome = await simulate(seed);
parentPort?.postMessage(outcome);
