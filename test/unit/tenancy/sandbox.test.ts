import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  createSandbox,
  isSettled,
  Pairing,
  Purge,
  type RoutingRefusal,
  routeToEnvironment,
  Sandbox,
} from '../../../functions/tenancy/sandbox.ts';
import { isSandbox, OrganizationState } from '../../../functions/tenancy/tenant.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { recentTimes } from '../aws/arbitraries.ts';

const live = newId('org', NOW);
const { pairing, sandbox } = createSandbox(live, NOW);
const key = { orgId: live, environment: 'sandbox' } as const;
const stranger = newId('org', NOW);

describe('new sandbox', () => {
  it('is another organization at its first generation, paired with the live one', () => {
    expect(sandbox.id).not.toBe(live);
    expect(sandbox).toMatchObject({ environment: 'sandbox', liveOrganizationId: live, generation: 1 });
    expect(pairing).toEqual({
      liveOrganizationId: live,
      sandboxOrganizationId: sandbox.id,
      createdAt: NOW.toISOString(),
    });
  });

  it('is the tenant of sandbox keys of the live organization', () => {
    expect(routeToEnvironment(key, pairing, sandbox)).toEqual({
      kind: 'routed',
      tenant: { orgId: sandbox.id, generation: 1 },
    });
  });

  it('can be stored, and has the state of a sandbox', () => {
    expect(Pairing.parse(pairing)).toEqual(pairing);
    expect(Sandbox.parse(sandbox)).toEqual(sandbox);
    expect(OrganizationState.parse({ ...sandbox, tier: 'sandbox' })).toMatchObject({
      environment: 'sandbox',
    });
  });
});

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
  it.each<[RoutingRefusal, string, Parameters<typeof routeToEnvironment>]>([
    ['unpaired', 'the organization has no sandbox', [key, undefined, undefined]],
    ['unpaired', 'the key is a live one', [{ ...key, environment: 'live' }, pairing, sandbox]],
    [
      'foreign pairing',
      'the pairing is of another organization',
      [key, { ...pairing, liveOrganizationId: stranger }, sandbox],
    ],
    [
      'foreign pairing',
      'the organization is paired with itself',
      [key, { ...pairing, sandboxOrganizationId: live }, { ...sandbox, id: live }],
    ],
    ['no such sandbox', 'the paired organization is no sandbox, or is gone', [key, pairing, undefined]],
    [
      'no such sandbox',
      'another organization was read than is paired',
      [key, pairing, { ...sandbox, id: stranger }],
    ],
    [
      'not its sandbox',
      'the sandbox names another live organization',
      [key, pairing, { ...sandbox, liveOrganizationId: stranger }],
    ],
    [
      'not its sandbox',
      'the sandbox has the generation of live data',
      [key, pairing, { ...sandbox, generation: 0 }],
    ],
  ])('is refused as "%s" when %s', (why, _what, given) => {
    expect(routeToEnvironment(...given)).toEqual({ kind: 'refused', why });
  });

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

describe('purge', () => {
  it('has deleted nothing when no progress is stored', () => {
    const order = { orgId: sandbox.id, generation: 1, requestedAt: NOW.toISOString() };
    expect(Purge.parse(order)).toEqual({ ...order, deleted: 0 });
  });

  it('is settled exactly from its linger time after the reset on', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: 0, max: 3_600 }), (resetAt, linger) => {
        const order = Purge.parse({
          orgId: sandbox.id,
          generation: 1,
          requestedAt: resetAt.toISOString(),
        });
        expect(isSettled(order, later(resetAt, seconds(linger) - 1), linger)).toBe(false);
        expect(isSettled(order, later(resetAt, seconds(linger)), linger)).toBe(true);
        expect(isSettled(order, later(resetAt, seconds(linger) + 1), linger)).toBe(true);
      }),
    );
  });
});
