import { describe, expect, it } from 'vitest';
import type { Sent } from '../../../support/exchange.ts';
import { untilCounted } from '../../../support/use-up.ts';
import { aPlace } from '../place.ts';

/* Budgets of callers (docs/specification.md, Rate limits). */
const place = aPlace();

describe('a caller within its rate limit', () => {
  const listing = (key: string): Sent => ({
    method: 'GET',
    target: '/api/v1/conversations',
    headers: [['Authorization', `Bearer ${key}`]],
  });

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
});
