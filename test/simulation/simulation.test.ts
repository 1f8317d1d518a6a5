import { expect, it } from 'vitest';
import { campaign } from './campaign.ts';

it('the service keeps its promises under faults with the seeds 1 to 300', async () => {
  const { findings } = await campaign({ runs: 300, seed: 1, workers: 2 }, () => undefined);

  expect(findings.map(({ seed, violation }) => ({ seed, ...violation }))).toEqual([]);
});
