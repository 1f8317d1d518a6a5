import { expect, it } from 'vitest';
import { campaign } from './campaign.ts';
import { newSeeds } from './new-seeds.ts';
import { replayOf } from './report.ts';

it('the service keeps its promises under faults, with seeds that no run had before', async () => {
  const { seed, runs } = newSeeds();
  process.stdout.write(`simulation: ${runs} seeds from ${seed} on\n`);
  const { findings } = await campaign({ seed, runs, workers: 2 }, () => undefined);

  expect(findings.map((found) => ({ ...found.violation, repeat: replayOf(found.seed) }))).toEqual([]);
});
