import { loadMutated } from './load-mutated.ts';
import { MUTATIONS } from './mutations.ts';

/*
 * Given to Node with --import, lets a program run with the mutation that the environment names; its threads
 * too.
 */
const mutation = MUTATIONS.find(({ name }) => name === process.env.SIMULATED_MUTATION);
if (mutation === undefined) throw new Error('SIMULATED_MUTATION names no mutation');
loadMutated(mutation);
