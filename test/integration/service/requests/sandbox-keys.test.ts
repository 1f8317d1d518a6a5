import { describe, expect, it } from 'vitest';
import type { Exchange, Sent } from '../../../support/exchange.ts';
import { SANDBOX_LIMIT } from '../../../support/service.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { untilCounted, useUp } from '../../../support/use-up.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';
import { KEYS } from './settings-paths.ts';

/** Seconds that must be left of a minute before a test starts. */
const ENOUGH = 5;
const LISTING = '/api/v1/conversations';

/*
 * Sandbox keys are managed by the live organization and work in the sandbox only (docs/specification.md,
 * Authentication).
 */
const place = aPlace('defaults');

describe('a key of a sandbox', () => {
  const send = (credential: string, changes: Partial<Sent> = {}): Promise<Exchange> =>
    place.connection().send({
      method: 'GET',
      target: LISTING,
      headers: [['Authorization', `Bearer ${credential}`]],
      ...changes,
    });
  const listSandboxKeys = async ({ admin }: Tenant) =>
    (await admin.all(KEYS)).filter(({ environment }) => environment === 'sandbox');

  it('is listed with the keys of the live organization, and refused at the first request after its revocation', async () => {
    const live = await place.tenant();
    const [first, second] = [await place.sandbox(live), await place.sandbox(live)];
    // Newest first.
    const [newer, older] = await listSandboxKeys(live);
    expect(newer).toMatchObject({ environment: 'sandbox', revokedAt: null });
    expect((await live.admin.all(KEYS)).map(({ environment }) => environment)).toEqual([
      'sandbox',
      'sandbox',
      'live',
    ]);

    const revoked = await live.admin.call({ method: 'DELETE', path: `${KEYS}/${older?.id}` });
    expect(revoked.status).toBe(204);

    expectProblem(await first.api.get(LISTING), 401, 'AUTHENTICATION_ERROR');
    for (const credential of [second.key, live.key]) expect((await send(credential)).status).toBe(200);
    expect((await listSandboxKeys(live)).map(({ revokedAt }) => revokedAt)).toEqual([
      null,
      expect.any(String),
    ]);
  });

  describe('has the budget of the sandbox', () => {
    const left = ({ headers }: Exchange) => Number(/r=(\d+)/.exec(headers.ratelimit ?? '')?.[1]);

    it.each(['scale', 'standard'] as const)('in an organization of tier %s', async (tier) => {
      const live = await place.tenant({ tier });
      const { key } = await place.sandbox(live);
      const { headers } = await untilCounted(() => send(key));
      expect(headers['ratelimit-policy']).toBe(`"sandbox";q=${SANDBOX_LIMIT};w=60`);
      expect(headers.ratelimit).toMatch(/^"sandbox";r=\d+;t=([1-9]|[1-5]\d|60)$/);
      expect((await untilCounted(() => send(live.key))).headers['ratelimit-policy']).toMatch(`"${tier}"`);
    });

    it('shared with all other keys of the sandbox, and with no live key', async () => {
      const live = await place.tenant({ tier: 'standard' });
      const [first, second] = [await place.sandbox(live), await place.sandbox(live)];
      const elsewhere = await place.sandbox(await place.tenant());
      const others = async () => [
        await untilCounted(() => send(live.key)),
        await untilCounted(() => send(elsewhere.key)),
      ];
      const before = await others();

      let turn = 0;
      const take = () => {
        turn += 1;
        return send(turn % 2 === 0 ? first.key : second.key);
      };
      const refused = await useUp(place.service(), take, first.orgId, ENOUGH);

      expect(JSON.parse(refused.text).error?.type).toBe('RATE_LIMITED');
      for (const key of [first.key, second.key]) expect((await send(key)).status).toBe(429);
      const after = await others();
      expect(after.map(({ status }) => status)).toEqual([200, 200]);
      // Only this test's own request is missing, unless a new minute has begun.
      for (const [index, answer] of after.entries())
        expect(left(answer)).toBeGreaterThanOrEqual(left(before[index] ?? answer) - 1);
      expect((await live.admin.get(KEYS)).status).toBe(200);
      // The test may wait for the next minute, and its requests take a while on a busy machine.
    }, 240_000);
  });
});
