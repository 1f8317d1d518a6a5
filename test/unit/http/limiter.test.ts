import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { parseList } from 'structured-headers';
import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { RATE_LIMITER_FAILURES } from '../../../functions/aws/metrics.ts';
import {
  type RateWindows,
  rateLimiter,
  rateWindowStore,
  visitorLimiter,
} from '../../../functions/http/limiter.ts';
import {
  computeDebt,
  computeTokens,
  DEFAULT_RATE_LIMITS,
  getRateWindow,
  WINDOW_SECONDS,
} from '../../../functions/http/rate-limit.ts';
import type { RateBucket } from '../../../functions/tenancy/keys.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { publishedDuring } from '../aws/capturing-logger.ts';
import { aRequest, createThing, createThingWith, envelope, send, thingRoute } from './call.ts';
import { inMemory } from './in-memory.ts';

/** The only member of a list field, with its parameters (RFC 9651). */
const fieldOf = (headers: Record<string, unknown>, name: string) => {
  const [[value, parameters] = []] = parseList(String(headers[name]));
  return { value, ...Object.fromEntries((parameters as Map<string, unknown>) ?? []) };
};

describe('the budget of a caller', () => {
  it('is part of every answer to an authenticated caller', async () => {
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

  it('is neither shown to nor used by an unauthenticated caller', async () => {
    const service = inMemory();
    const { headers } = await createThingWith({ headers: { Authorization: undefined } }, service);
    for (const name of ['RateLimit', 'RateLimit-Policy']) expect(headers).not.toHaveProperty(name);
    expect(service.budget).toBe(10);
  });

  it('refuses requests beyond it, with the time to wait and without effects', async () => {
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

  it('is ignored when the limiter fails: the request passes, and the failure is counted', async () => {
    const service = inMemory();
    service.ports.limiter.take = async () => {
      throw new Error('the table is throttled');
    };
    const metrics = await publishedDuring(async () => {
      const { status, headers } = await createThingWith({}, service);
      expect(status).toBe(201);
      expect(headers).not.toHaveProperty('RateLimit');
    });
    expect(metrics).toMatchObject({ [RATE_LIMITER_FAILURES]: 1 });
    expect(service.logger.lines).toMatchObject([{ level: 'WARN' }]);
  });
});

describe('the cost of a request', () => {
  const heavy = { reads: 210, writes: 8 };

  it.each([
    [{ reads: 0, writes: 0 }, 1],
    [{ reads: 50, writes: 10 }, 1],
    [{ reads: 50, writes: 10.5 }, 2],
    [heavy, 3],
    [{ reads: 512, writes: 0 }, 6],
  ])('is, for %o, %i tokens', (consumed, tokens) => {
    expect(computeTokens(consumed)).toBe(tokens);
  });

  it('is charged after it ran, and the answer has what is left then', async () => {
    const service = Object.assign(inMemory(), { consumed: heavy });
    const { status, headers } = await createThingWith({}, service);
    expect(status).toBe(201);
    expect(fieldOf(headers, 'RateLimit')).toMatchObject({ r: 7 });
    expect(service.corrections).toEqual([2]);
  });

  it('is charged to a request that failed as well, and to none that was refused before it ran', async () => {
    const failing = Object.assign(inMemory(), { consumed: heavy });
    failing.ports.commit = async () => {
      throw new Error('broken');
    };
    expect(fieldOf((await createThingWith({}, failing)).headers, 'RateLimit')).toMatchObject({ r: 7 });

    const refused = Object.assign(inMemory(), { consumed: heavy, budget: 0 });
    expect((await createThingWith({}, refused)).status).toBe(429);
    expect(refused.corrections).toEqual([]);
  });

  it('can take a budget below zero, which answers show as 0', async () => {
    const service = Object.assign(inMemory(), { consumed: heavy, budget: 2 });
    expect(fieldOf((await createThingWith({}, service)).headers, 'RateLimit')).toMatchObject({ r: 0 });
    expect(service.budget).toBe(-1);
    expect((await createThingWith({}, service)).status).toBe(429);
  });

  it('does not fail a request when it cannot be charged', async () => {
    const service = Object.assign(inMemory(), { consumed: heavy });
    service.ports.limiter.correct = async () => {
      throw new Error('the table is throttled');
    };
    const metrics = await publishedDuring(async () => {
      const { status, headers } = await createThingWith({}, service);
      expect(status).toBe(201);
      expect(fieldOf(headers, 'RateLimit')).toMatchObject({ r: 9 });
    });
    expect(metrics).toMatchObject({ [RATE_LIMITER_FAILURES]: 1 });
  });

  it('is charged in advance where the query determines it, and refunded where it was less', async () => {
    const service = inMemory();
    const route = { ...thingRoute, tokens: ({ view }: { view?: string }) => (view === 'long' ? 4 : 1) };
    for (const [view, charged] of [
      ['long', [-3]],
      ['short', []],
      ['none', []],
    ] as const) {
      service.corrections.splice(0);
      const event = aRequest(service, { queryStringParameters: { view } });
      const { headers } = await send(route, service, event, createThing());
      expect(service.corrections).toEqual(charged);
      expect(fieldOf(headers, 'RateLimit')).toMatchObject({ r: service.budget });
    }
    expect(service.budget).toBe(7);
  });
});

const bucket = (): RateBucket => ({ orgId: newId('org', NOW), kind: 'live' });

const nameOf = ({ orgId, kind }: RateBucket, start: number) => `${orgId}/${kind}/${start}`;

/** Windows in memory. */
function counting(used = new Map<string, number>()): RateWindows {
  const add = (bucket: RateBucket, start: number, tokens: number): number => {
    const count = (used.get(nameOf(bucket, start)) ?? 0) + tokens;
    used.set(nameOf(bucket, start), count);
    return count;
  };
  return {
    take: async (bucket, start, tokens, limit) =>
      (used.get(nameOf(bucket, start)) ?? 0) >= limit ? 'full' : { used: add(bucket, start, tokens) },
    add: async (bucket, start, tokens) => ({ used: add(bucket, start, tokens) }),
  };
}

describe('the limiter', () => {
  it('charges every request its cost: a window in debt refuses, and the next one has less or nothing', async () => {
    const request = fc.record({
      offset: fc.integer({ min: 0, max: 299 }),
      before: fc.integer({ min: 1, max: 4 }),
      cost: fc.integer({ min: 1, max: 30 }),
    });
    const size = 10;
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 40 }), async (requests) => {
        const used = new Map<string, number>();
        const limit = rateLimiter(counting(used), { sandbox: 1, standard: size, scale: 1 });
        const caller = bucket();
        // The use of a window, from the costs alone; the debt of the one before comes first.
        const model = new Map<number, number>();
        for (const { offset, before, cost } of requests.toSorted((a, b) => a.offset - b.offset)) {
          const at = later(NOW, seconds(offset));
          const { start } = getRateWindow(at);
          const debt = computeDebt(model.get(start - WINDOW_SECONDS) ?? 0, size);
          const spent = model.get(start) ?? debt;
          model.set(start, spent);
          const charge = await limit.take(caller, 'standard', at, before);
          expect(charge.allowed).toBe(spent < size);
          if (!charge.allowed) continue;
          const { remaining } = await limit.correct(charge, cost);
          model.set(start, spent + cost);
          expect(remaining).toBe(Math.max(0, size - spent - cost));
          expect(used.get(nameOf(caller, start))).toBe(spent + cost);
          expect(used.get(nameOf(caller, start + WINDOW_SECONDS)) ?? 0).toBe(computeDebt(spent + cost, size));
        }
      }),
    );
  });

  it('passes every debt on, however late it is known and however full the next windows are', async () => {
    const size = 10;
    const request = fc.record({
      offset: fc.integer({ min: 0, max: 299 }),
      before: fc.integer({ min: 1, max: 12 }),
      cost: fc.integer({ min: 0, max: 30 }),
      // A request may end in a later window, of which others have used all by then.
      seconds: fc.integer({ min: 0, max: 130 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 40 }), async (requests) => {
        const used = new Map<string, number>();
        const limit = rateLimiter(counting(used), { sandbox: 1, standard: size, scale: 1 });
        const caller = bucket();
        const own = new Map<number, number>();
        const charges = new Map<number, Awaited<ReturnType<typeof limit.take>>>();
        const steps = requests.flatMap((request, index) => [
          { ...request, index, at: request.offset, isEnd: false },
          { ...request, index, at: request.offset + request.seconds, isEnd: true },
        ]);
        for (const { index, at, isEnd, before, cost } of steps.toSorted((a, b) => a.at - b.at)) {
          const charge = isEnd
            ? charges.get(index)
            : await limit.take(caller, 'standard', later(NOW, seconds(at)), before);
          if (charge === undefined || !charge.allowed) continue;
          if (isEnd) await limit.correct(charge, cost);
          charges.set(index, charge);
          const spent = isEnd ? cost - before : before;
          own.set(charge.start, (own.get(charge.start) ?? 0) + spent);
        }
        let before = 0;
        const { start: first } = getRateWindow(NOW);
        for (let start = first; start < first + 20 * WINDOW_SECONDS; start += WINDOW_SECONDS) {
          const usedTokens = used.get(nameOf(caller, start)) ?? 0;
          expect(usedTokens).toBe((own.get(start) ?? 0) + computeDebt(before, size));
          before = usedTokens;
        }
      }),
    );
  });

  it('permits requests again after a correction has returned tokens, at once and in other instances', async () => {
    const windows = counting();
    const [first, second] = [
      rateLimiter(windows, DEFAULT_RATE_LIMITS),
      rateLimiter(windows, DEFAULT_RATE_LIMITS),
    ];
    const caller = bucket();
    const whole = await first.take(caller, 'sandbox', NOW, 60);
    for (const limit of [first, second])
      expect(await limit.take(caller, 'sandbox', NOW)).toMatchObject({ allowed: false });

    await first.correct(whole, 50);

    expect(await first.take(caller, 'sandbox', NOW)).toMatchObject({ allowed: true });
    expect(await second.take(caller, 'sandbox', later(NOW, seconds(1)))).toMatchObject({ allowed: true });
  });

  it('returns when the window ends, in whole seconds and never 0', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 59_999 }), async (offset) => {
        const limit = rateLimiter(counting(), DEFAULT_RATE_LIMITS);
        const start = Math.floor(NOW.getTime() / 60_000) * 60_000;
        const { resetSeconds } = await limit.take(bucket(), 'scale', new Date(start + offset));
        expect(resetSeconds).toBe(Math.max(1, Math.ceil((60_000 - offset) / 1000)));
      }),
    );
  });

  it('reads no window again that it found full, and reads the next one', async () => {
    const windows = counting();
    const asked = vi.spyOn(windows, 'take');
    const limit = rateLimiter(windows, { ...DEFAULT_RATE_LIMITS, standard: 1 });
    const caller = bucket();
    for (let times = 0; times < 20; times++) await limit.take(caller, 'standard', NOW);
    expect(asked).toHaveBeenCalledTimes(2);
    expect(await limit.take(bucket(), 'standard', NOW)).toMatchObject({ allowed: true });
    expect(await limit.take(caller, 'standard', later(NOW, seconds(60)))).toMatchObject({ allowed: true });
  });
});

describe('the limiter of visitors', () => {
  /** Conversations of organizations of these tiers, with windows whose requests are recorded. */
  function given(limits: Partial<typeof DEFAULT_RATE_LIMITS> = {}) {
    const windows = counting();
    const taken = vi.spyOn(windows, 'take');
    const tiers = new Map<string, 'sandbox' | 'standard' | 'scale'>();
    const limit = visitorLimiter(windows, { ...DEFAULT_RATE_LIMITS, ...limits }, async (id) => {
      const tier = tiers.get(id);
      return tier && { tier };
    });
    const organization = (tier: 'sandbox' | 'standard' | 'scale') => {
      const { orgId } = bucket();
      tiers.set(orgId, tier);
      return orgId;
    };
    const conversation = (orgId: RateBucket['orgId']): RateBucket => ({
      orgId,
      kind: `visitor/${newId('cnv', NOW)}`,
    });
    return { windows, taken, limit, organization, conversation };
  }

  it("permits exactly the number of requests of the organization's tier, over all conversations", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('sandbox' as const, 'standard' as const, 'scale' as const),
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 80 }),
        async (tier, requests) => {
          const budgets = { sandbox: 3, standard: 20, scale: 1000 };
          const { limit, organization, conversation } = given(budgets);
          const orgId = organization(tier);
          const conversations = Array.from({ length: 5 }, () => conversation(orgId));
          let passed = 0;
          for (const index of requests)
            if ((await limit.take(conversations[index] ?? conversation(orgId), 'visitor', NOW)).allowed)
              passed += 1;
          expect(passed).toBe(Math.min(requests.length, budgets[tier]));
        },
      ),
    );
  });

  it('leaves the budgets of other organizations, and of the organization’s own keys, unchanged', async () => {
    const { windows, limit, organization, conversation } = given({ standard: 2 });
    const [orgId, other] = [organization('standard'), organization('standard')];
    for (let times = 0; times < 5; times += 1) await limit.take(conversation(orgId), 'visitor', NOW);
    expect(await limit.take(conversation(orgId), 'visitor', NOW)).toMatchObject({
      allowed: false,
      tier: 'visitors',
      limit: 2,
      remaining: 0,
    });
    expect(await limit.take(conversation(other), 'visitor', NOW)).toMatchObject({
      allowed: true,
      tier: 'visitor',
    });
    const ofKeys = rateLimiter(windows, { ...DEFAULT_RATE_LIMITS, standard: 2 });
    expect(await ofKeys.take({ orgId, kind: 'live' }, 'standard', NOW)).toMatchObject({ allowed: true });
  });

  it('charges the organization nothing for a conversation without a budget', async () => {
    const { taken, limit, organization, conversation } = given();
    const noisy = conversation(organization('scale'));
    for (let times = 0; times < 100; times += 1) await limit.take(noisy, 'visitor', NOW);
    const shared = taken.mock.calls.filter(([{ kind }]) => kind === 'visitors');
    expect(shared).toHaveLength(60);
  });

  it('writes at most one unit more for a request, and nothing once a window is known to be full', async () => {
    const { taken, limit, organization, conversation } = given({ standard: 2 });
    const orgId = organization('standard');
    await limit.take(conversation(orgId), 'visitor', NOW);
    expect(taken).toHaveBeenCalledTimes(2);
    for (let times = 0; times < 2; times += 1) await limit.take(conversation(orgId), 'visitor', NOW);
    taken.mockClear();
    for (let times = 0; times < 20; times += 1) await limit.take(conversation(orgId), 'visitor', NOW);
    expect(taken).not.toHaveBeenCalled();
    expect(await limit.take(conversation(orgId), 'visitor', later(NOW, seconds(60)))).toMatchObject({
      allowed: true,
    });
  });

  it('corrects both budgets by the cost of a request', async () => {
    const { limit, organization, conversation } = given({ standard: 10 });
    const orgId = organization('standard');
    const charge = await limit.take(conversation(orgId), 'visitor', NOW);

    expect(await limit.correct(charge, 4)).toMatchObject({ remaining: 56 });

    for (let times = 0; times < 6; times += 1)
      expect((await limit.take(conversation(orgId), 'visitor', NOW)).allowed).toBe(true);
    expect(await limit.take(conversation(orgId), 'visitor', NOW)).toMatchObject({
      allowed: false,
      tier: 'visitors',
    });
  });

  it('gives an unknown organization the lowest budget', async () => {
    const { limit, conversation } = given({ sandbox: 1 });
    const { orgId } = bucket();
    expect((await limit.take(conversation(orgId), 'visitor', NOW)).allowed).toBe(true);
    expect((await limit.take(conversation(orgId), 'visitor', NOW)).allowed).toBe(false);
  });
});

describe('a rate window', () => {
  const client = new DynamoDBClient({});
  const dynamo = mockClient(client);
  const take = (timeoutMs: number) =>
    rateWindowStore({ client, name: 'rates' }, timeoutMs).take(bucket(), 0, 1, 10);

  it('that does not answer in time is an error, and its later answer nothing', async () => {
    const answer = Promise.withResolvers<never>();
    dynamo.on(UpdateItemCommand).callsFake(() => answer.promise);
    await expect(take(1)).rejects.toThrow('no response within 1 ms');
    answer.reject(new Error('throttled'));
  });

  it('of a failing table is an error, not a full one', async () => {
    dynamo.on(UpdateItemCommand).rejects(new Error('throttled'));
    await expect(take(60_000)).rejects.toThrow('throttled');
  });
});
