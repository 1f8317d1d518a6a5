import { describe, expect, it } from 'vitest';
import { MUTATIONS } from './mutations/mutations.ts';
import { runMutant } from './mutations/run-mutant.ts';

/** Each was caught within 150 seeds of its first. After a change of the random draws the rarest need more. */
const SEEDS = 2000;

describe('the simulation', () => {
  it.concurrent.each(MUTATIONS)('detects that $name', async (mutation) => {
    const { violation } = await runMutant(mutation, SEEDS);

    expect(violation, `${SEEDS} seeds did not show it`).toBeDefined();
    expect(mutation.breaks, violation?.detail).toContain(violation?.promise);
  });
});
