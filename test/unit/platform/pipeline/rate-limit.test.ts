import fc from 'fast-check';
import { parseList } from 'structured-headers';
import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../../../functions/domain/ids.ts';
import { DEFAULT_RATE_LIMITS, type RateBucket } from '../../../../functions/domain/rate-limit.ts';
import { type RateWindows, rateLimiter } from '../../../../functions/platform/pipeline/rate-limit.ts';
import { later, NOW, seconds } from '../../../builders.ts';
import { createThingWith, envelope } from './call.ts';
import { inMemory } from './in-memory.ts';

/** The one member of a list field, with its parameters (RFC 9651). */
const fieldOf = (headers: Record<string, unknown>, name: string) => {
  const [[value, parameters] = []] = parseList(String(headers[name]));
  return { value, ...Object.fromEntries((parameters as Map<string, unknown>) ?? []) };
};

describe('the budget of a caller', () => {
  it('is told with every answer to somebody who is known', async () => {
    const refused = inMemory();
    refused.key.scopes.splice(0);
    for (const [service, change, status] of [
      [inMemory(), {}, 201],
      [inMemory(), { body: '{' }, 400],
      [inMemory(), { pathParameters: { id: 'nothing' } }, 404],
      [refused, {}, 403],
    ] as const) {
      const { headers, ...answer } = await createThingWith(change, service);
      expect(answer.status).toBe(status);
      expect(fieldOf(headers, 'RateLimit-Policy')).toEqual({ value: 'standard', q: 10, w: 60 });
      expect(fieldOf(headers, 'RateLimit')).toEqual({ value: 'standard', r: 9, t: 42 });
      expect(headers).not.toHaveProperty('Retry-After');
    }
  });

  it('is told on a failure of ours too', async () => {
    const service = inMemory();
    service.ports.commit = async () => {
      throw new Error('broken');
    };
    const { status, headers } = await createThingWith({}, service);
    expect(status).toBe(500);
    expect(fieldOf(headers, 'RateLimit')).toMatchObject({ r: 9 });
  });

  it('is not told to somebody who is not known, and not used by him', async () => {
    const service = inMemory();
    const { headers } = await createThingWith({ headers: { Authorization: undefined } }, service);
    for (const name of ['RateLimit', 'RateLimit-Policy']) expect(headers).not.toHaveProperty(name);
    expect(service.budget).toBe(10);
  });

  it('ends: what comes then is refused with the time to wait, and does nothing', async () => {
    const service = inMemory();
    service.budget = 1;
    await createThingWith({}, service);
    const { status, headers, body, runs } = await createThingWith({}, service);
    expect(status).toBe(429);
    expect(body).toEqual(envelope('RATE_LIMITED'));
    expect(headers).toMatchObject({ 'Retry-After': '42' });
    expect(fieldOf(headers, 'RateLimit')).toEqual({ value: 'standard', r: 0, t: 42 });
    expect(runs).toBe(0);
    expect(service.commits).toHaveLength(1);
  });

  it('is not asked for when the limiter fails: the request passes, and the failure is counted', async () => {
    const service = inMemory();
    service.ports.limit = async () => {
      throw new Error('the table is throttled');
    };
    const { status, headers } = await createThingWith({}, service);
    expect(status).toBe(201);
    expect(headers).not.toHaveProperty('RateLimit');
    expect(service.limiterFailures).toBe(1);
    expect(service.logger.lines).toMatchObject([{ level: 'WARN' }]);
  });
});

const bucket = (): RateBucket => ({ orgId: newId('org', NOW), kind: 'live' });

/** Windows in memory. */
function counting(): RateWindows {
  const used = new Map<string, number>();
  return {
    take: async ({ orgId, kind }, start, limit) => {
      const name = `${orgId}/${kind}/${start}`;
      const count = used.get(name) ?? 0;
      if (count >= limit) return 'full';
      used.set(name, count + 1);
      return { used: count + 1 };
    },
  };
}

describe('the limiter', () => {
  it('lets exactly as many of a window through as the tier has, in any order of buckets and times', async () => {
    const limits = { sandbox: 2, standard: 5, scale: 7 };
    const buckets = [bucket(), bucket(), { ...bucket(), kind: 'sandbox' as const }];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 150 })), {
          maxLength: 60,
        }),
        async (requests) => {
          const limit = rateLimiter(counting(), limits);
          const passed = new Map<string, number>();
          const asked = new Map<string, number>();
          for (const [index, offset] of requests) {
            const at = later(NOW, seconds(offset));
            const chosen = buckets[index] ?? bucket();
            const { allowed, remaining } = await limit(chosen, 'standard', at);
            const window = `${index}/${Math.floor(at.getTime() / 60_000)}`;
            asked.set(window, (asked.get(window) ?? 0) + 1);
            if (allowed) passed.set(window, (passed.get(window) ?? 0) + 1);
            expect(remaining).toBe(Math.max(0, 5 - (passed.get(window) ?? 0)));
          }
          for (const [window, count] of asked) expect(passed.get(window) ?? 0).toBe(Math.min(5, count));
        },
      ),
    );
  });

  it('lets visitors of each conversation through 60 times a minute, whatever the tiers have', async () => {
    const limit = rateLimiter(counting(), { sandbox: 1, standard: 1, scale: 1 });
    const { orgId } = bucket();
    const [one, other] = ([newId('cnv', NOW), newId('cnv', NOW)] as const).map(
      (id): RateBucket => ({ orgId, kind: `visitor/${id}` }),
    );
    for (const visitors of [one, other]) {
      let passed = 0;
      for (let times = 0; times < 70; times += 1)
        if (visitors && (await limit(visitors, 'visitor', NOW)).allowed) passed += 1;
      expect(passed).toBe(60);
    }
    expect(await limit({ orgId, kind: 'live' }, 'standard', NOW)).toMatchObject({ allowed: true });
  });

  it('says when the window ends, in whole seconds and never 0', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 59_999 }), async (offset) => {
        const limit = rateLimiter(counting(), DEFAULT_RATE_LIMITS);
        const start = Math.floor(NOW.getTime() / 60_000) * 60_000;
        const { resetSeconds } = await limit(bucket(), 'scale', new Date(start + offset));
        expect(resetSeconds).toBe(Math.max(1, Math.ceil((60_000 - offset) / 1000)));
      }),
    );
  });

  it('asks no more about a window that it saw full, and again about the next one', async () => {
    const windows = counting();
    const asked = vi.spyOn(windows, 'take');
    const limit = rateLimiter(windows, { ...DEFAULT_RATE_LIMITS, standard: 1 });
    const caller = bucket();
    for (let times = 0; times < 20; times++) await limit(caller, 'standard', NOW);
    expect(asked).toHaveBeenCalledTimes(2);
    expect(await limit(bucket(), 'standard', NOW)).toMatchObject({ allowed: true });
    expect(await limit(caller, 'standard', later(NOW, seconds(60)))).toMatchObject({ allowed: true });
  });
});
