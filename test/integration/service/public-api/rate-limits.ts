import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { connect, type Exchange, type Sent } from '../../../support/exchange.ts';
import { SANDBOX_LIMIT, STANDARD_LIMIT } from '../../../support/service.ts';
import { useUp } from '../../../support/use-up.ts';
import type { Place } from './place.ts';

/** Seconds that a minute must still have for what is to happen within it. */
const ENOUGH = 10;
/** Bursts until one is counted to the end: the limiter lets requests pass that it could not count in time. */
const TRIES = 5;

/** Tiers that a test can use up. */
type Limited = 'standard' | 'sandbox';

/** Budgets are kept to the request (decisions.md, Rate limits). */
export function rateLimits(place: Place): void {
  const listing = (key: string): Sent => ({
    method: 'GET',
    target: '/api/v1/conversations',
    headers: [['Authorization', `Bearer ${key}`]],
  });
  const isCounted = ({ headers }: Exchange) => headers.ratelimit !== undefined;

  /** A key of a new organization, or of its sandbox, whatever tier that organization has. */
  const keyOf: Record<Limited, () => Promise<string>> = {
    standard: async () => (await place.service().enrol({ tier: 'standard' })).key,
    sandbox: async () => (await place.sandbox(await place.tenant())).key,
  };

  /** As many requests at once with a new key, all in one minute. */
  async function burst(tier: Limited, requests: number): Promise<Exchange[]> {
    const key = await keyOf[tier]();
    const crowd = connect(place.service().url, requests);
    const scout = await place.service().enrol();
    const { headers } = await crowd.send(listing(scout.key));
    const seconds = Number(/;t=(\d+)$/.exec(headers.ratelimit ?? '')?.[1] ?? 60);
    if (seconds < ENOUGH) await sleep(seconds * 1000);
    const answers = await Promise.all(Array.from({ length: requests }, () => crowd.send(listing(key))));
    crowd.close();
    return answers;
  }

  it.each([
    ['standard', STANDARD_LIMIT],
    ['sandbox', SANDBOX_LIMIT],
  ] as const)(
    'refuses exactly one of one request too many, over as many connections: %s',
    async (tier, most) => {
      let answers: Exchange[] = [];
      for (let tried = 0; tried < TRIES && !(answers.length > 0 && answers.every(isCounted)); tried += 1)
        answers = await burst(tier, most + 1);
      const refused = answers.filter(({ status }) => status === 429);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(most);
      expect(refused).toHaveLength(1);
      const [{ headers = {}, text = '' } = {}] = refused;
      expect(JSON.parse(text).error.type).toBe('RATE_LIMITED');
      expect(headers['ratelimit-policy']).toBe(`"${tier}";q=${most};w=60`);
      expect(headers.ratelimit).toMatch(new RegExp(`^"${tier}";r=0;t=\\d+$`));
      expect(Number(headers['retry-after'])).toBe(Number(/t=(\d+)/.exec(headers.ratelimit ?? '')?.[1]));
      const left = answers
        .filter(({ status }) => status === 200)
        .map(({ headers: it }) => /r=(\d+)/.exec(it.ratelimit ?? '')?.[1]);
      expect(new Set(left).size).toBe(most);
    },
  );

  it('tells of the budget in every answer to a caller that is known, and in none to another', async () => {
    const { key } = await place.service().enrol();
    const { orgId } = await place.service().enrol();
    const member = await place.service().session(orgId, 'member');
    const send = (target: string, credential: string) =>
      place.connection().send({ ...listing(credential), target });
    const known = await Promise.all([
      send('/api/v1/conversations', key),
      send('/api/v1/conversations?limit=x', key),
      send('/api/v1/conversations/nothing', key),
      send('/api/settings/organization', member),
      send('/api/settings/api-keys', member),
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

  it('leaves the dashboard its own budget, so that a key which uses up the other can be revoked', async () => {
    const { orgId, key } = await place.service().enrol({ tier: 'standard' });
    const session = await place.service().session(orgId, 'admin');
    await useUp(() => place.connection().send(listing(key)), 1);
    const settings = { ...listing(session), target: '/api/settings/api-keys' };
    expect((await place.connection().send(settings)).status).toBe(200);
  });
}
