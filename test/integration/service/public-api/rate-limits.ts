import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { connect, type Exchange, type Sent } from '../../../support/exchange.ts';
import { SANDBOX_LIMIT, STANDARD_LIMIT } from '../../../support/service.ts';
import { untilCounted, useUp } from '../../../support/use-up.ts';
import type { Place } from '../place.ts';

/** Seconds that a minute should still have for what is to happen within it. */
const ENOUGH = 25;
/** Not a measure of speed: on a busy machine hundreds of requests have taken minutes. */
const LONG = { timeout: 240_000 };
/** Bursts until one is within a minute from its first to its last request, however busy the machine is. */
const TRIES = 5;

/** What the gateway answers when a busy machine takes longer than it waits. */
const UNAVAILABLE = 503;

/** Tiers that a test can use up. */
type Limited = 'standard' | 'sandbox';

/** Budgets are kept to the request (decisions.md, Rate limits). */
export function rateLimits(place: Place): void {
  const listing = (key: string): Sent => ({
    method: 'GET',
    target: '/api/v1/conversations',
    headers: [['Authorization', `Bearer ${key}`]],
  });
  const minuteNow = () => Math.floor(Date.now() / 60_000);
  const isRefused = ({ status }: Exchange) => status === 429;
  const isCounted = ({ headers }: Exchange) => headers.ratelimit !== undefined;

  /** A key of a new organization, or of its sandbox, whatever tier that organization has. */
  const keyOf: Record<Limited, () => Promise<string>> = {
    standard: async () => (await place.service().enrol({ tier: 'standard' })).key,
    sandbox: async () => (await place.sandbox(await place.tenant())).key,
  };

  /**
   * As many requests at once with a new key, over as many connections, and then one at a time until one is refused, all in one minute:
   * the limiter lets requests pass that it could not count in time, so on a busy machine it can take some more.
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

  it.each([
    ['standard', STANDARD_LIMIT],
    ['sandbox', SANDBOX_LIMIT],
  ] as const)(
    'refuses exactly one of one request too many, over as many connections: %s',
    async (tier, most) => {
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
      // Each place of the budget went to one request. A place nobody was told of was counted after the
      // limiter had given up.
      const uncounted = passed.filter((answer) => !isCounted(answer)).length;
      const counted = passed.filter(isCounted);
      const places = new Set(counted.map(({ headers: it }) => /r=(\d+)/.exec(it.ratelimit ?? '')?.[1]));
      expect(places.size).toBe(counted.length);
      expect(counted.length).toBeLessThanOrEqual(most);
      expect(counted.length + uncounted).toBeGreaterThanOrEqual(most);
    },
    LONG.timeout,
  );

  it('tells of the budget in every answer to a caller that is known, and in none to another', async () => {
    const { key } = await place.service().enrol();
    const { orgId } = await place.service().enrol();
    const member = await place.service().session(orgId, 'member');
    const send = (target: string, credential: string) =>
      place.connection().send({ ...listing(credential), target });
    const counted = (target: string, credential: string) => untilCounted(() => send(target, credential));
    const known = await Promise.all([
      counted('/api/v1/conversations', key),
      counted('/api/v1/conversations?limit=x', key),
      counted('/api/v1/conversations/nothing', key),
      counted('/api/settings/organization', member),
      counted('/api/settings/api-keys', member),
    ]);
    expect(known.map(({ status }) => status)).toEqual([200, 400, 404, 200, 403]);
    for (const { headers } of known)
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

  it(
    'leaves the dashboard its own budget, so that a key which uses up the other can be revoked',
    LONG,
    async () => {
      const { orgId, key } = await place.service().enrol({ tier: 'standard' });
      const session = await place.service().session(orgId, 'admin');
      await useUp(() => place.connection().send(listing(key)), 1);
      const settings = { ...listing(session), target: '/api/settings/api-keys' };
      expect((await place.connection().send(settings)).status).toBe(200);
    },
  );
}
