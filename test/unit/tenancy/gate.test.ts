import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import {
  GateClosed,
  gate,
  NotPermitted,
  type Permit,
  requirePermit,
} from '../../../functions/tenancy/gate.ts';
import type { OrganizationState } from '../../../functions/tenancy/tenant.ts';
import { NOW } from '../../builders.ts';

const LIVE: OrganizationState = { environment: 'live', tier: 'standard', generation: 0 };
const SANDBOX: OrganizationState = { environment: 'sandbox', tier: 'sandbox', generation: 1 };
const orgId = newId('org', NOW);

/** A gate whose organization states a test answers, and a record of the calls behind it. */
function aGate(answer: (orgId: OrgId) => unknown) {
  const ran: ('live' | 'sandbox')[] = [];
  const permits: Permit[] = [];
  const asked: OrgId[] = [];
  const pass = gate((id) => {
    asked.push(id);
    return answer(id) as Promise<OrganizationState | undefined>;
  });
  const run = (id = orgId) =>
    pass(id, {
      live: async (permit) => {
        ran.push('live');
        permits.push(permit);
        return 'sent';
      },
      sandbox: async () => {
        ran.push('sandbox');
        return 'simulated';
      },
    });
  return { run, ran, permits, asked };
}

describe('gate', () => {
  it('runs the live branch for a live organization, with a permit for it', async () => {
    const { run, ran, permits, asked } = aGate(async () => LIVE);

    expect(await run()).toBe('sent');

    expect(ran).toEqual(['live']);
    expect(asked).toEqual([orgId]);
    expect(permits).toMatchObject([{ orgId }]);
    for (const permit of permits) expect(() => requirePermit(permit)).not.toThrow();
  });

  it('runs the sandbox branch for a sandbox, without a permit', async () => {
    const { run, ran, permits } = aGate(async () => SANDBOX);

    expect(await run()).toBe('simulated');

    expect(ran).toEqual(['sandbox']);
    expect(permits).toEqual([]);
  });

  it('runs exactly one branch, only where environment and generation agree', async () => {
    const states = fc.oneof(
      fc.record({
        environment: fc.constantFrom('live', 'sandbox', 'Live', 'test', '', undefined),
        tier: fc.constantFrom('standard', 'scale', 'sandbox', 'gold', undefined),
        generation: fc.oneof(fc.integer({ min: -2, max: 3 }), fc.constantFrom(0.5, Number.NaN, '0', null)),
      }),
      fc.anything(),
    );
    await fc.assert(
      fc.asyncProperty(states, async (state) => {
        const { run, ran } = aGate(async () => state);
        const result = await run().catch((error: unknown) => error);
        const { environment, tier, generation } = (state ?? {}) as Record<string, unknown>;
        const isKnown = ['standard', 'scale', 'sandbox'].some((known) => known === tier);
        const isLive = isKnown && environment === 'live' && (generation === 0 || generation === undefined);
        const isSandbox =
          isKnown && environment === 'sandbox' && Number.isInteger(generation) && Number(generation) >= 1;
        if (isLive) expect([result, ran]).toEqual(['sent', ['live']]);
        else if (isSandbox) expect([result, ran]).toEqual(['simulated', ['sandbox']]);
        else {
          expect(result).toBeInstanceOf(GateClosed);
          expect(ran).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, () => unknown]>([
    ['does not exist', async () => undefined],
    ['cannot be read', () => Promise.reject(new Error('throttled'))],
    [
      'cannot even be asked for',
      () => {
        throw new Error('no such table');
      },
    ],
  ])('is closed to an organization that %s', async (_what, answer) => {
    const { run, ran } = aGate(answer);
    await expect(run()).rejects.toThrow(GateClosed);
    expect(ran).toEqual([]);
  });

  it('fails with its cause', async () => {
    const cause = new Error('throttled');
    await expect(aGate(() => Promise.reject(cause)).run()).rejects.toMatchObject({ cause });
  });

  it('reads the organization for each call', async () => {
    const answers = [LIVE, SANDBOX, undefined];
    const { run, ran } = aGate(async () => answers.shift());
    await run();
    await run();
    await expect(run()).rejects.toThrow(GateClosed);
    expect(ran).toEqual(['live', 'sandbox']);
  });

  it('passes errors of a branch through', async () => {
    const failure = new Error('out of sockets');
    const sandbox = vi.fn();
    const live = () => Promise.reject(failure);
    await expect(gate(async () => LIVE)(orgId, { live, sandbox })).rejects.toBe(failure);
    expect(sandbox).not.toHaveBeenCalled();
  });
});

describe('permit', () => {
  const getPermit = (id: OrgId): Promise<Permit> =>
    gate(async () => LIVE)(id, {
      live: async (permit) => permit,
      sandbox: () => Promise.reject(new Error('not a sandbox')),
    });
  /** Calls `requirePermit` without its types. */
  const require = (permit: unknown) => Reflect.apply(requirePermit, undefined, [permit]);

  it.each<[string, (permit: Permit) => unknown]>([
    ['made up', ({ orgId }) => ({ orgId })],
    ['copied', (permit) => ({ ...permit })],
    ['copied deeply', (permit) => structuredClone(permit)],
    ['written down and read again', (permit) => JSON.parse(JSON.stringify(permit))],
    ['derived from a true one', (permit) => Object.create(permit)],
    ['hidden behind a true one', (permit) => new Proxy(permit, {})],
    ['frozen like a true one', ({ orgId }) => Object.freeze({ orgId })],
    ['an organization', ({ orgId }) => orgId],
    ['none', () => undefined],
    ['null', () => null],
    ['just a yes', () => true],
  ])('is rejected when it is %s', async (_what, forge) => {
    const permit = await getPermit(orgId);
    expect(() => require(forge(permit))).toThrow(NotPermitted);
    expect(() => requirePermit(permit)).not.toThrow();
  });

  it('is rejected by the compiler when it only has the same fields', () => {
    // @ts-expect-error: nothing but the gate makes a permit
    expect(() => requirePermit({ orgId })).toThrow(NotPermitted);
  });

  it('cannot be changed to another organization', async () => {
    const permit = await getPermit(orgId);
    expect(Reflect.set(permit, 'orgId', newId('org', NOW))).toBe(false);
    expect(permit.orgId).toBe(orgId);
  });
});
