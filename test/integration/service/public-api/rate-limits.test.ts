import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../../support/cases.ts';
import { connect, type Exchange, type Sent } from '../../../support/exchange.ts';
import { SANDBOX_LIMIT, STANDARD_LIMIT } from '../../../support/service.ts';
import { untilCounted, useUp } from '../../../support/use-up.ts';
import { aPlace } from '../place.ts';

/** Seconds that must be left of a minute before a test starts. */
const ENOUGH = 25;
/** A generous limit, not a measure of speed: on a busy machine hundreds of requests have taken minutes. */
const LONG = { timeout: 240_000 };
/** Bursts to try until the first and last request of one are in the same minute. */
const TRIES = 5;

/** The gateway's answer on a timeout, on a busy machine. */
const UNAVAILABLE = 503;

const LIMITS = { standard: STANDARD_LIMIT, sandbox: SANDBOX_LIMIT };
/** Tiers with budgets that a test can use up. */
type Limited = keyof typeof LIMITS;

/*
 * Budgets are exact to the request (docs/specification.md, Rate limits).
 */
const place = aPlace('defaults');
/** Tiers whose budgets are used up request by request. */
const TIERS = casesOf<readonly Limited[]>([], ['standard', 'sandbox']);

describe('a caller within its rate limit', () => {
  const listing = (key: string): Sent => ({
    method: 'GET',
    target: '/api/v1/conversations',
    headers: [['Authorization', `Bearer ${key}`]],
  });
  const minuteNow = () => Math.floor(Date.now() / 60_000);
  const isRefused = ({ status }: Exchange) => status === 429;
  const isCounted = ({ headers }: Exchange) => headers.ratelimit !== undefined;

  /** A key of a new organization of the tier, or of a sandbox. */
  const keyOf: Record<Limited, () => Promise<string>> = {
    standard: async () => (await place.service().enrol({ tier: 'standard' })).key,
    sandbox: async () => (await place.sandbox(await place.tenant())).key,
  };

  /**
   * Sends that many requests at once with a new key over as many connections, and then one at a time until
   * one is refused, all in one minute. The limiter lets requests pass that it cannot count in time, so on a
   * busy machine more than the limit may pass.
   */
  async function burst(tier: Limited, requests: number): Promise<Exchange[]> {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const key = await keyOf[tier]();
      const crowd = connect(place.service().url, requests);
      const left = 60 - ((Date.now() / 1000) % 60);
      if (left < ENOUGH) await sleep(left * 1000);
      const minute = minuteNow();
      const answers = await Promise.all(Array.from({ length: requests }, () => crowd.send(listing(key))));
      while (!answers.some(isRefused) && answers.length < 2 * requests)
        answers.push(await crowd.send(listing(key)));
      crowd.close();
      const wasInTime = answers.every(({ status }) => status !== UNAVAILABLE);
      if (wasInTime && minuteNow() === minute) return answers;
    }
    throw new Error(`no ${requests} requests were answered within a minute, in ${TRIES} tries`);
  }

  it.each(TIERS)(
    'refuses exactly one of one request too many, over as many connections: %s',
    async (tier) => {
      const most = LIMITS[tier];
      const answers = await burst(tier, most + 1);
      const passed = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(isRefused);
      const others = answers.filter((answer) => answer.status !== 200 && !isRefused(answer));
      expect(others.map(({ status, text }) => `${status} ${text}`)).toEqual([]);
      expect(refused).toHaveLength(1);
      const [{ headers = {}, text = '' } = {}] = refused;
      expect(JSON.parse(text).error.type).toBe('RATE_LIMITED');
      expect(headers['ratelimit-policy']).toBe(`"${tier}";q=${most};w=60`);
      expect(headers.ratelimit).toMatch(new RegExp(`^"${tier}";r=0;t=\\d+$`));
      expect(Number(headers['retry-after'])).toBe(Number(/t=(\d+)/.exec(headers.ratelimit ?? '')?.[1]));
      // Each token went to one request. Missing values belong to requests that were counted after the limiter
      // had timed out.
      const uncounted = passed.filter((answer) => !isCounted(answer)).length;
      const counted = passed.filter(isCounted);
      const places = new Set(counted.map(({ headers: it }) => /r=(\d+)/.exec(it.ratelimit ?? '')?.[1]));
      expect(places.size).toBe(counted.length);
      expect(counted.length).toBeLessThanOrEqual(most);
      expect(counted.length + uncounted).toBeGreaterThanOrEqual(most);
    },
    LONG.timeout,
  );

  it('reports its budget in every answer after authentication, and in none before', async () => {
    const { key } = await place.service().enrol();
    const { orgId } = await place.service().enrol();
    const member = await place.service().session(orgId, 'member');
    const send = (target: string, credential: string) =>
      place.connection().send({ ...listing(credential), target });
    const counted = (target: string, credential: string) => untilCounted(() => send(target, credential));
    const tenants = await Promise.all([
      counted('/api/v1/conversations', key),
      counted('/api/v1/conversations?limit=x', key),
      counted('/api/v1/conversations/nothing', key),
      counted('/api/settings/organization', member),
      counted('/api/settings/api-keys', member),
    ]);
    expect(tenants.map(({ status }) => status)).toEqual([200, 400, 404, 200, 403]);
    for (const { headers } of tenants)
      expect([headers['ratelimit-policy'], headers.ratelimit]).toEqual([
        expect.stringMatching(/^"scale";q=\d+;w=60$/),
        expect.stringMatching(/^"scale";r=\d+;t=([1-9]|[1-5]\d|60)$/),
      ]);
    const unknown = await Promise.all([
      send('/api/v1/conversations', `ck_live_${'A'.repeat(43)}`),
      send('/api/settings/organization', 'x.y.z'),
    ]);
    for (const { status, headers } of unknown)
      expect([status, headers['ratelimit-policy'], headers.ratelimit]).toEqual([401, undefined, undefined]);
  });

  it('leaves the dashboard a budget of its own, so that an overused key can be revoked', LONG, async () => {
    const { orgId, key } = await place.service().enrol({ tier: 'standard' });
    const session = await place.service().session(orgId, 'admin');
    await useUp(place.service(), () => place.connection().send(listing(key)), `${orgId}#live#`, 1);
    const settings = { ...listing(session), target: '/api/settings/api-keys' };
    expect((await place.connection().send(settings)).status).toBe(200);
  });
});
