import { expect, it } from 'vitest';
import { campaign } from './campaign.ts';
import { newSeeds } from './new-seeds.ts';
import { replayOf } from './report.ts';

const { seed, runs } = newSeeds();

it.each([
  { seed: 1, runs: 300 },
  { seed, runs },
])('the service keeps its promises under faults with $runs seeds from $seed on', async (terms) => {
  process.stdout.write(`simulation: ${terms.runs} seeds from ${terms.seed} on\n`);
  const { findings } = await campaign({ ...terms, workers: 2 }, () => undefined);

  expect(findings.map((found) => ({ ...found.violation, repeat: replayOf(found.seed) }))).toEqual([]);
});
