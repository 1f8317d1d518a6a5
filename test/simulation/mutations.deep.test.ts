import { describe, expect, it } from 'vitest';
import { MUTATIONS } from './mutations/mutations.ts';
import { runMutant } from './mutations/run-mutant.ts';

/** Each was caught with one of the first 700 seeds when it was written. */
const SEEDS = 2000;

describe('the simulation', () => {
  it.concurrent.each(MUTATIONS)('detects that $name', async (mutation) => {
    const { violation } = await runMutant(mutation, SEEDS);

    expect(violation, `${SEEDS} seeds did not show it`).toBeDefined();
    expect(mutation.breaks).toContain(violation?.promise);
  });
});
