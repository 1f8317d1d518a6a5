import { loadMutated } from './load-mutated.ts';
import { MUTATIONS } from './mutations.ts';

/* Loaded with `--import`: runs a program and its threads with the mutation that the environment names. */
const mutation = MUTATIONS.find(({ name }) => name === process.env.SIMULATED_MUTATION);
if (mutation === undefined) throw new Error('SIMULATED_MUTATION names no mutation');
loadMutated(mutation);
