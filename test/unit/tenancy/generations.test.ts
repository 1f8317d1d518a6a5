import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { createGenerationCheck, UnknownTenant } from '../../../functions/tenancy/sandbox.ts';
import { NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';

const orgId = newId('org', NOW);

/** A sandbox after so many resets, and the check of its generations. */
function aSandbox(resets: number) {
  const standings = memoryOrganizationStates();
  standings.makeSandbox(orgId);
  for (let reset = 0; reset < resets; reset += 1) standings.reset(orgId);
  return { standings, generationOf: createGenerationCheck(standings) };
}

describe('generation check', () => {
  it('returns over for a generation before a reset, even after several resets', async () => {
    const { generationOf, standings } = aSandbox(0);
    expect(await generationOf({ orgId, generation: 1 })).toBe('current');
    standings.reset(orgId);
    expect(await generationOf({ orgId, generation: 1 })).toBe('over');
    expect(await generationOf({ orgId, generation: 2 })).toBe('current');
    standings.reset(orgId);
    expect(await generationOf({ orgId, generation: 1 })).toBe('over');
  });

  it('returns current for live data', async () => {
    expect(await createGenerationCheck(memoryOrganizationStates())({ orgId, generation: 0 })).toBe('current');
  });

  it('returns over for live data in a sandbox', async () => {
    expect(await aSandbox(0).generationOf({ orgId, generation: 0 })).toBe('over');
  });

  it('fails for a generation newer than the stored one', async () => {
    await expect(aSandbox(1).generationOf({ orgId, generation: 3 })).rejects.toThrow(UnknownTenant);
    await expect(createGenerationCheck(memoryOrganizationStates())({ orgId, generation: 1 })).rejects.toThrow(
      UnknownTenant,
    );
  });

  it('fails for an unknown organization', async () => {
    const { standings, generationOf } = aSandbox(0);
    standings.forget(orgId);
    await expect(generationOf({ orgId, generation: 1 })).rejects.toThrow(UnknownTenant);
  });
});
