import type { Work } from '../../../lib/cost/measured.ts';
import type { FunctionName } from '../../../lib/infra/grants/grant.ts';
import { ofFunction } from './tally.ts';
import type { WatchedRun } from './watched-run.ts';
import { eachInvocation, workOf } from './work.ts';

const RUNS = 3;

/** The cost of a run of each scheduled function without due work. */
export async function measureIdle(run: WatchedRun, names: readonly string[]): Promise<Record<string, Work>> {
  const runAll = async () => {
    for (const name of names) await run.service.invoke(name as FunctionName);
  };
  await runAll();
  await run.taken();
  for (let round = 0; round < RUNS; round += 1) await runAll();
  const tallies = await run.taken();
  return Object.fromEntries(names.map((name) => [name, workOf(eachInvocation(ofFunction(tallies, name)))]));
}
