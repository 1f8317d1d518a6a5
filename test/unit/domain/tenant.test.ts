import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSandbox,
  Organization,
  OrganizationSettings,
  OrganizationState,
} from '../../../functions/domain/tenant.ts';
import { anOrganization } from '../../builders.ts';

describe('an organization', () => {
  it('has the default settings until its admins change them', () => {
    const { contentChangeThreshold, contentChangeNotifications, ...asItCame } = anOrganization();
    expect(Organization.parse(asItCame)).toMatchObject({
      contentChangeThreshold: 20,
      contentChangeNotifications: true,
    });
  });

  it('keeps settings that are as low as they can be', () => {
    const settings = { contentChangeThreshold: 0, contentChangeNotifications: false };
    expect(anOrganization(settings)).toMatchObject(settings);
  });

  it.each(['gold', '', 'STANDARD'])('has no tier "%s"', (tier) => {
    expect(Organization.safeParse({ ...anOrganization(), tier }).success).toBe(false);
  });
});

describe('the standing of an organization', () => {
  it('is one only where its kind and its generation agree', () => {
    const rows = fc.record({
      environment: fc.constantFrom('live', 'sandbox'),
      tier: fc.constantFrom('standard', 'scale', 'sandbox'),
      generation: fc.integer({ min: -3, max: 1_000 }),
    });
    fc.assert(
      fc.property(rows, (row) => {
        const agrees = row.environment === 'live' ? row.generation === 0 : row.generation >= 1;
        const standing = OrganizationState.safeParse(row);
        expect(standing.success).toBe(agrees);
        if (standing.success) expect(isSandbox(standing.data)).toBe(row.environment === 'sandbox');
      }),
    );
  });

  it('of a live one needs no generation to be written down, of a sandbox it does', () => {
    expect(OrganizationState.parse({ environment: 'live', tier: 'scale' })).toMatchObject({
      generation: 0,
    });
    expect(OrganizationState.safeParse({ environment: 'sandbox', tier: 'sandbox' }).success).toBe(false);
  });

  it.each([0.5, '1', null, Number.NaN])('has no generation %j', (generation) => {
    const row = { environment: 'sandbox', tier: 'sandbox', generation };
    expect(OrganizationState.safeParse(row).success).toBe(false);
  });
});

describe('the threshold of content changes', () => {
  const threshold = OrganizationSettings.shape.contentChangeThreshold;

  it('is any percentage with at most two decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), (hundredths) => {
        expect(threshold.parse(hundredths / 100)).toBe(hundredths / 100);
      }),
    );
  });

  it('is nothing below 0 and nothing above 100', () => {
    const outside = fc.double({ noNaN: true }).filter((percent) => percent < 0 || percent > 100);
    fc.assert(
      fc.property(outside, (percent) => {
        expect(threshold.safeParse(percent).success).toBe(false);
      }),
    );
  });

  // DynamoDB holds numbers from 1E-130 on, and a smaller one would be an error of ours.
  it.each([Number.MIN_VALUE, 1e-200, 0.001, 33.333, 99.999])(
    'has no more than two decimals: %d',
    (percent) => {
      expect(threshold.safeParse(percent).error?.issues).toMatchObject([
        { message: 'must have at most two decimals' },
      ]);
    },
  );

  it.each(['20', true, null, Number.NaN, [20]])('is a number, not %j', (value) => {
    expect(threshold.safeParse(value).success).toBe(false);
  });
});
