import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSandbox,
  Organization,
  OrganizationSettings,
  OrganizationState,
} from '../../../functions/tenancy/tenant.ts';
import { anOrganization } from '../../builders.ts';

describe('organization', () => {
  it('has the default settings until its admins change them', () => {
    const { contentChangeThreshold, contentChangeNotifications, ...asItCame } = anOrganization();
    expect(Organization.parse(asItCame)).toMatchObject({
      contentChangeThreshold: 20,
      contentChangeNotifications: true,
    });
  });

  it('accepts the lowest settings', () => {
    const settings = { contentChangeThreshold: 0, contentChangeNotifications: false };
    expect(anOrganization(settings)).toMatchObject(settings);
  });

  it.each(['gold', '', 'STANDARD'])('rejects the tier "%s"', (tier) => {
    expect(Organization.safeParse({ ...anOrganization(), tier }).success).toBe(false);
  });
});

describe('organization state', () => {
  it('is valid only when environment and generation agree', () => {
    const rows = fc.record({
      environment: fc.constantFrom('live', 'sandbox'),
      tier: fc.constantFrom('standard', 'scale', 'sandbox'),
      generation: fc.integer({ min: -3, max: 1_000 }),
    });
    fc.assert(
      fc.property(rows, (row) => {
        const agrees = row.environment === 'live' ? row.generation === 0 : row.generation >= 1;
        const state = OrganizationState.safeParse(row);
        expect(state.success).toBe(agrees);
        if (state.success) expect(isSandbox(state.data)).toBe(row.environment === 'sandbox');
      }),
    );
  });

  it('of a live organization needs no stored generation, that of a sandbox does', () => {
    expect(OrganizationState.parse({ environment: 'live', tier: 'scale' })).toMatchObject({
      generation: 0,
    });
    expect(OrganizationState.safeParse({ environment: 'sandbox', tier: 'sandbox' }).success).toBe(false);
  });

  it.each([0.5, '1', null, Number.NaN])('rejects the generation %j', (generation) => {
    const row = { environment: 'sandbox', tier: 'sandbox', generation };
    expect(OrganizationState.safeParse(row).success).toBe(false);
  });
});

describe('threshold of content changes', () => {
  const threshold = OrganizationSettings.shape.contentChangeThreshold;

  it('accepts any percentage with at most two decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), (hundredths) => {
        expect(threshold.parse(hundredths / 100)).toBe(hundredths / 100);
      }),
    );
  });

  it('rejects values below 0 and above 100', () => {
    const outside = fc.double({ noNaN: true }).filter((percent) => percent < 0 || percent > 100);
    fc.assert(
      fc.property(outside, (percent) => {
        expect(threshold.safeParse(percent).success).toBe(false);
      }),
    );
  });

  // DynamoDB rejects numbers below 1E-130, which would be an internal error.
  it.each([Number.MIN_VALUE, 1e-200, 0.001, 33.333, 99.999])('has at most two decimals: %d', (percent) => {
    expect(threshold.safeParse(percent).error?.issues).toMatchObject([
      { message: 'must have at most two decimals' },
    ]);
  });

  it.each(['20', true, null, Number.NaN, [20]])('rejects %j', (value) => {
    expect(threshold.safeParse(value).success).toBe(false);
  });
});
