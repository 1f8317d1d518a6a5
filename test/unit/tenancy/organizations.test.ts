import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import {
  createGenerationCheck,
  createSandbox,
  organizationStates,
  routeToEnvironment,
  Sandbox,
  UnknownTenant,
} from '../../../functions/tenancy/organizations.ts';
import { isSandbox, type OrganizationState } from '../../../functions/tenancy/tenant.ts';
import { NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';

const live = newId('org', NOW);
const { pairing, sandbox } = createSandbox(live, NOW);
const stranger = newId('org', NOW);

describe('stored sandbox', () => {
  it.each([
    ['of generation 0', { generation: 0 }],
    ['of half a generation', { generation: 1.5 }],
    ['that is live', { environment: 'live' }],
    ['without a live organization', { liveOrganizationId: undefined }],
  ])('cannot be one %s', (_what, changes) => {
    expect(Sandbox.safeParse({ ...sandbox, ...changes }).success).toBe(false);
  });
});

describe('tenant of a sandbox key', () => {
  it('is the sandbox that the pairing and the sandbox agree on, or is refused', () => {
    // Few organizations, so that they coincide in every possible combination.
    const ids = fc.constantFrom(live, sandbox.id, stranger);
    const keys = fc.record({ orgId: ids, environment: fc.constantFrom('live' as const, 'sandbox' as const) });
    const pairings = fc.option(fc.record({ liveOrganizationId: ids, sandboxOrganizationId: ids }), {
      nil: undefined,
    });
    const sandboxes = fc.option(
      fc.record({ id: ids, liveOrganizationId: ids, generation: fc.integer({ min: 0, max: 3 }) }),
      { nil: undefined },
    );
    fc.assert(
      fc.property(keys, pairings, sandboxes, (key, names, row) => {
        const result = routeToEnvironment(
          key,
          names && { ...pairing, ...names },
          row && { ...sandbox, ...row },
        );
        const isItsOwn =
          key.environment === 'sandbox' &&
          names?.liveOrganizationId === key.orgId &&
          row?.liveOrganizationId === key.orgId &&
          row.id === names.sandboxOrganizationId &&
          row.id !== key.orgId &&
          row.generation >= 1;
        if (!isItsOwn) expect(result.kind).toBe('refused');
        else
          expect(result).toEqual({ kind: 'routed', tenant: { orgId: row.id, generation: row.generation } });
        if (result.kind === 'routed') expect(isSandbox(result.tenant)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

const LIVE: OrganizationState = { environment: 'live', tier: 'standard', generation: 0 };
const sandboxAt = (generation: number): OrganizationState => ({
  environment: 'sandbox',
  tier: 'sandbox',
  generation,
});
const [orgId, other] = [newId('org', NOW), newId('org', NOW)];

/** Organization states with the stored values, and the reads that reached the store. */
function aSource(stored: Partial<Record<OrgId, OrganizationState>> = {}) {
  const reads: OrgId[] = [];
  const { of } = organizationStates(async (id) => {
    reads.push(id);
    return stored[id];
  });
  return { of, reads, stored };
}

/** Organization states whose reads the test answers. */
function aHeldSource() {
  const reads: PromiseWithResolvers<OrganizationState | undefined>[] = [];
  const { of } = organizationStates(() => {
    const read = Promise.withResolvers<OrganizationState | undefined>();
    reads.push(read);
    return read.promise;
  });
  return { of, reads };
}

/** Lets everything run that only waits for its turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the state of a live organization', () => {
  it('is read once', async () => {
    const { of, reads } = aSource({ [orgId]: LIVE });
    for (let time = 0; time < 5; time += 1) expect(await of(orgId)).toEqual(LIVE);
    expect(reads).toEqual([orgId]);
  });

  it('does not answer for another organization', async () => {
    const { of, reads } = aSource({ [orgId]: LIVE, [other]: sandboxAt(1) });
    expect([await of(orgId), await of(other)]).toEqual([LIVE, sandboxAt(1)]);
    expect(reads).toEqual([orgId, other]);
  });

  it('is read once for concurrent callers', async () => {
    const { of, reads } = aHeldSource();
    const asked = Array.from({ length: 10 }, () => of(orgId));
    await turn();
    expect(reads).toHaveLength(1);
    reads[0]?.resolve(LIVE);
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 10 }, () => LIVE));
    expect(reads).toHaveLength(1);
  });
});

describe('the state of a sandbox', () => {
  it('is read for each call, so that a caller sees an earlier reset', async () => {
    const { of, stored, reads } = aSource({ [orgId]: sandboxAt(1) });
    expect(await of(orgId)).toEqual(sandboxAt(1));
    stored[orgId] = sandboxAt(2);
    expect(await of(orgId)).toEqual(sandboxAt(2));
    expect(reads).toHaveLength(2);
  });

  it('is never older than the call, however slow concurrent reads are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 6 }), async (scheduler, count) => {
        let generation = 1;
        const { of } = organizationStates(async () => {
          // The row at the time of the read, returned some time later.
          await scheduler.schedule(Promise.resolve(), 'reading');
          const read = sandboxAt(generation);
          await scheduler.schedule(Promise.resolve(), 'answering');
          return read;
        });
        const asked = Array.from({ length: count }, () =>
          scheduler.schedule(Promise.resolve(), 'asking').then(async () => {
            const since = generation;
            generation += 1;
            expect((await of(orgId))?.generation).toBeGreaterThan(since);
          }),
        );
        await scheduler.waitFor(Promise.all(asked));
      }),
    );
  });
});

describe('the state of an unknown organization', () => {
  it('is read for each call, because the organization may be created', async () => {
    const { of, stored, reads } = aSource();
    expect(await of(orgId)).toBeUndefined();
    stored[orgId] = LIVE;
    expect(await of(orgId)).toEqual(LIVE);
    expect(reads).toHaveLength(2);
  });
});

describe("a failed read of an organization's state", () => {
  it('fails its callers, and is not cached', async () => {
    const { of, reads } = aHeldSource();
    const [first, second] = [of(orgId), of(orgId)];
    await turn();
    reads[0]?.reject(new Error('throttled'));
    await expect(first).rejects.toThrow('throttled');
    await turn();
    reads[1]?.resolve(LIVE);
    expect(await second).toEqual(LIVE);
    expect(await of(orgId)).toEqual(LIVE);
    expect(reads).toHaveLength(2);
  });
});

/** A sandbox after so many resets, and the check of its generations. */
function aSandbox(resets: number) {
  const states = memoryOrganizationStates();
  states.makeSandbox(orgId);
  for (let reset = 0; reset < resets; reset += 1) states.reset(orgId);
  return { states, generationOf: createGenerationCheck(states) };
}

describe('generation check', () => {
  it('returns over for a generation before a reset, even after several resets', async () => {
    const { generationOf, states } = aSandbox(0);
    expect(await generationOf({ orgId, generation: 1 })).toBe('current');
    states.reset(orgId);
    expect(await generationOf({ orgId, generation: 1 })).toBe('over');
    expect(await generationOf({ orgId, generation: 2 })).toBe('current');
    states.reset(orgId);
    expect(await generationOf({ orgId, generation: 1 })).toBe('over');
  });

  it('fails for a generation newer than the stored one', async () => {
    await expect(aSandbox(1).generationOf({ orgId, generation: 3 })).rejects.toThrow(UnknownTenant);
    await expect(createGenerationCheck(memoryOrganizationStates())({ orgId, generation: 1 })).rejects.toThrow(
      UnknownTenant,
    );
  });

  it('fails for an unknown organization', async () => {
    const { states, generationOf } = aSandbox(0);
    states.forget(orgId);
    await expect(generationOf({ orgId, generation: 1 })).rejects.toThrow(UnknownTenant);
  });
});
