import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import { createGenerationCheck, UnknownTenant } from '../../../functions/domain/sandbox.ts';
import { NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';

const orgId = newId('org', NOW);

/** A sandbox that was reset so often, and what tells its generations apart. */
function aSandbox(resets: number) {
  const standings = memoryOrganizationStates();
  standings.makeSandbox(orgId);
  for (let reset = 0; reset < resets; reset += 1) standings.reset(orgId);
  return { standings, generationOf: createGenerationCheck(standings) };
}

describe('a generation', () => {
  it('is over once a reset has left it behind, however long ago', async () => {
    const { generationOf, standings } = aSandbox(0);
    expect(await generationOf({ orgId, generation: 1 })).toBe('current');
    standings.reset(orgId);
    expect(await generationOf({ orgId, generation: 1 })).toBe('over');
    expect(await generationOf({ orgId, generation: 2 })).toBe('current');
    standings.reset(orgId);
    expect(await generationOf({ orgId, generation: 1 })).toBe('over');
  });

  it('of live data is always the present one', async () => {
    expect(await createGenerationCheck(memoryOrganizationStates())({ orgId, generation: 0 })).toBe('current');
  });

  it('as live data has it is over in a sandbox', async () => {
    expect(await aSandbox(0).generationOf({ orgId, generation: 0 })).toBe('over');
  });

  it('is not acted upon when it is newer than what is known of the organization', async () => {
    await expect(aSandbox(1).generationOf({ orgId, generation: 3 })).rejects.toThrow(UnknownTenant);
    await expect(createGenerationCheck(memoryOrganizationStates())({ orgId, generation: 1 })).rejects.toThrow(
      UnknownTenant,
    );
  });

  it('is not acted upon when nothing is known of the organization', async () => {
    const { standings, generationOf } = aSandbox(0);
    standings.forget(orgId);
    await expect(generationOf({ orgId, generation: 1 })).rejects.toThrow(UnknownTenant);
  });
});
