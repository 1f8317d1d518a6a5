import { describe, expect, it } from 'vitest';
import { campaign } from './campaign.ts';
import { runMutant } from './mutations/run-mutant.ts';
import { HARMFUL_ALONE, HARMLESS_ALONE } from './mutations/versions.ts';
import { simulateVersions } from './versions/simulate-versions.ts';

describe('two versions of the code under faults', () => {
  it('keep the promises together with the seeds 1 to 120', async () => {
    const { findings, statistics } = await campaign(
      { runs: 120, seed: 1, workers: 2, versions: true },
      () => undefined,
    );

    expect(findings.map(({ seed, violation }) => ({ seed, ...violation }))).toEqual([]);
    for (const version of ['present', 'previous'])
      expect(statistics.of(`processes of the ${version} version`)).toBeGreaterThan(500);
  });

  it('give the same run for the same seed, to the last line of its trace', async () => {
    const traces = [];
    for (let run = 0; run < 2; run += 1) {
      const lines: string[] = [];
      await simulateVersions(14, (line) => lines.push(line));
      traces.push(lines);
    }

    expect(traces[1]).toEqual(traces[0]);
    expect(traces[0]?.length).toBeGreaterThan(100);
  });
});

/** Each was caught with one of the first 30 when it was written. */
const SEEDS = 300;
const SEEDS_ALONE = 12;

describe('the simulation with the previous version', () => {
  it.concurrent.each([...HARMLESS_ALONE, ...HARMFUL_ALONE])('detects that $name', async (mutation) => {
    const { violation } = await runMutant(mutation, SEEDS, 'both versions');

    expect(violation, `${SEEDS} seeds did not show it`).toBeDefined();
    expect(mutation.breaks).toContain(violation?.promise);
  });

  it.concurrent.each(HARMLESS_ALONE)(
    'reports nothing without the previous version when $name',
    async (mutation) => {
      const { violation } = await runMutant(mutation, SEEDS_ALONE, 'the present version');

      expect(violation).toBeUndefined();
    },
  );
});
