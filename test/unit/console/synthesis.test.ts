import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../lib/local/console/settings.ts';
import { contextOf } from '../../../lib/local/console/synthesis.ts';

const context = (variables: Record<string, string>) =>
  contextOf(readSettings(variables, '/'), 'http://localhost:1234');

describe('context of the stack', () => {
  it('holds the settings that were given, and no others', () => {
    expect(context({})).toEqual({ dashboardOrigin: 'http://localhost:1234' });
    expect(context({ RETRY_BASE_SECONDS: '0.1', PORT: '1' })).toEqual({
      retryBaseSeconds: 0.1,
      dashboardOrigin: 'http://localhost:1234',
    });
  });

  it('gives the rate limit to the tier of the local organization', () => {
    expect(context({ RATE_LIMIT_PER_MINUTE: '1000000' })).toMatchObject({
      rateLimitScale: 1_000_000,
      rateLimitStandard: 600,
      rateLimitSandbox: 60,
    });
  });

  it('leaves no tier with more than the local organization has', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (limit) => {
        const { rateLimitScale, rateLimitStandard, rateLimitSandbox } = context({
          RATE_LIMIT_PER_MINUTE: String(limit),
        });
        expect(rateLimitScale).toBe(limit);
        expect(rateLimitStandard).toBeLessThanOrEqual(limit);
        expect(rateLimitSandbox).toBeLessThanOrEqual(Number(rateLimitStandard));
        expect(rateLimitSandbox).toBeGreaterThanOrEqual(1);
      }),
    );
  });
});
