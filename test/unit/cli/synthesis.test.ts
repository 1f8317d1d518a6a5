import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../lib/local-run/start/settings.ts';
import { contextOf } from '../../../lib/local-run/start/synthesis.ts';

const context = (variables: Record<string, string>) =>
  contextOf(readSettings(variables, '/'), 'http://localhost:1234').settings;

describe('the context of the stack', () => {
  it('has only the settings that were given', () => {
    const always = {
      class: 'development',
      lowCost: false,
      redeliveryGroup: 1,
      dashboard: { origin: 'http://localhost:1234' },
      mailFrom: 'notifications@local.test',
    };
    expect(context({})).toEqual(always);
    const variables = { RETRY_BASE_SECONDS: '0.1', CHECK_EVERY_SECONDS: '2', NOTICE_SECONDS: '3' };
    expect(context({ ...variables, PORT: '1' })).toEqual({
      retryBaseSeconds: 0.1,
      checkEverySeconds: 2,
      noticeSeconds: 3,
      ...always,
    });
  });

  it('gives the rate limit to the tier of the local organization', () => {
    expect(context({ RATE_LIMIT_PER_MINUTE: '1000000' })).toMatchObject({
      rateLimits: { scale: 1_000_000, standard: 600, sandbox: 60 },
    });
  });

  it('gives the sandbox its own limit, and leaves a lower default as it is', () => {
    expect(context({ SANDBOX_RATE_LIMIT_PER_MINUTE: '5' })).toMatchObject({
      rateLimits: { scale: 6000, standard: 600, sandbox: 5 },
    });
  });

  it('never gives a tier more than a higher one', () => {
    const limit = fc.integer({ min: 1, max: 1_000_000_000 });
    const given = limit.chain((most) =>
      fc.record({
        RATE_LIMIT_PER_MINUTE: fc.constant(most),
        SANDBOX_RATE_LIMIT_PER_MINUTE: fc.option(fc.integer({ min: 1, max: most })),
      }),
    );
    fc.assert(
      fc.property(given, ({ RATE_LIMIT_PER_MINUTE: most, SANDBOX_RATE_LIMIT_PER_MINUTE: least }) => {
        const { scale, standard, sandbox } = Object(
          context({
            RATE_LIMIT_PER_MINUTE: String(most),
            ...(least === null ? {} : { SANDBOX_RATE_LIMIT_PER_MINUTE: String(least) }),
          }).rateLimits,
        );
        expect(scale).toBe(most);
        expect(standard).toBeLessThanOrEqual(most);
        expect(sandbox).toBeLessThanOrEqual(Number(standard));
        expect(sandbox).toBeGreaterThanOrEqual(1);
        if (least !== null) expect(sandbox).toBe(least);
      }),
    );
  });
});
