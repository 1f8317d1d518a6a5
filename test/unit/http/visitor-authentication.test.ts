import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { newId } from '../../../functions/aws/ids.ts';
import { createSeal } from '../../../functions/aws/keyrings.ts';
import { visitorAuthentication } from '../../../functions/http/authentication.ts';
import { success } from '../../../functions/http/reply.ts';
import type { Route } from '../../../functions/http/route.ts';
import type { RateBucket } from '../../../functions/tenancy/keys.ts';
import type { OrganizationState } from '../../../functions/tenancy/tenant.ts';
import {
  createVisitorToken,
  openVisitorToken,
  type Visit,
} from '../../../functions/tenancy/visitor-token.ts';
import { aKeyring, later, NOW, seconds } from '../../builders.ts';
import { aRequest, envelope, send } from './call.ts';
import { inMemory } from './in-memory.ts';

const ring = aKeyring();
const visit: Visit = {
  orgId: newId('org', NOW),
  generation: 0,
  conversationId: newId('cnv', NOW),
  expiresAt: later(NOW, seconds(900)).toISOString(),
};
const token = (changes: Partial<Visit> = {}, keys = ring) =>
  createVisitorToken(keys, { ...visit, ...changes }, createSeal(keys));
const LIVE: OrganizationState = { environment: 'live', tier: 'standard', generation: 0 };

const widgetRoute = {
  name: 'read-things',
  method: 'GET',
  path: '/v1/widget/things',
  visitor: true,
  params: z.object({}),
  query: z.object({ limit: z.optional(z.enum(['1'])) }),
  success: { status: 200, data: z.object({ name: z.string() }) },
} as const satisfies Route;

interface Given {
  authorization?: string | undefined;
  state?: OrganizationState | undefined;
  budget?: number;
  query?: Record<string, string>;
  thrown?: Error;
  erased?: boolean;
}

async function request(given: Given = {}) {
  const { authorization = `Bearer ${token()}`, budget = 10, query = null, thrown } = given;
  const service = inMemory();
  service.budget = budget;
  const state = 'state' in given ? given.state : LIVE;
  const buckets: [RateBucket, string][] = [];
  const { take } = service.ports.limiter;
  service.ports.limiter.take = (bucket, tier, now) => {
    buckets.push([bucket, tier]);
    return take(bucket, tier, now);
  };
  service.ports.authenticate = visitorAuthentication(
    async (text) => openVisitorToken(ring, text, NOW),
    async () => state,
    async () => given.erased ?? false,
  );
  const seen: unknown[] = [];
  const event = aRequest(service, {
    httpMethod: 'GET',
    headers: {
      Authorization: 'authorization' in given ? given.authorization : authorization,
      'Content-Type': undefined,
      'Idempotency-Key': undefined,
    },
    pathParameters: null,
    queryStringParameters: query,
    body: null,
  });
  const answer = await send(widgetRoute, service, event, async ({ tenant, conversationId }) => {
    if (thrown) throw thrown;
    seen.push({ tenant, conversationId });
    service.logger.log('CHECK_TOO_LATE', {});
    return success({ name: 'thing' });
  });
  return { ...answer, seen, buckets, logged: JSON.stringify(service.logger.lines) };
}

const REFUSED = envelope(
  'AUTHENTICATION_ERROR',
  'A valid visitor token is required: Authorization: Bearer cvt_….',
);

describe('a visitor', () => {
  it('acts on the one conversation of the token, in its organization', async () => {
    const { status, seen } = await request();
    expect(status).toBe(200);
    expect(seen).toEqual([
      { tenant: { orgId: visit.orgId, generation: 0 }, conversationId: visit.conversationId },
    ]);
  });

  it('uses up a budget of the conversation, and none of the organization', async () => {
    const { buckets, headers } = await request();
    expect(buckets).toEqual([[{ orgId: visit.orgId, kind: `visitor/${visit.conversationId}` }, 'visitor']]);
    expect(headers.RateLimit).toMatch(/^"visitor";r=9;/);
  });

  it('is refused once the conversation was erased', async () => {
    const { status, body, seen } = await request({ erased: true });
    expect([status, body, seen]).toEqual([401, REFUSED, []]);
  });

  it('is refused beyond the budget', async () => {
    const { status, body, headers, seen } = await request({ budget: 0 });
    expect([status, body, seen]).toEqual([429, envelope('RATE_LIMITED'), []]);
    expect(headers['Retry-After']).toBe('42');
  });

  it('is named in the log by the conversation, never by the token', async () => {
    const { logged } = await request();
    expect(logged).toContain(visit.conversationId);
    expect(logged).not.toContain('cvt_');
  });

  it('is accepted in a sandbox while its data is of the current generation', async () => {
    const sandbox = (generation: number): OrganizationState => ({
      environment: 'sandbox',
      tier: 'sandbox',
      generation,
    });
    const authorization = `Bearer ${token({ generation: 2 })}`;
    expect((await request({ authorization, state: sandbox(2) })).status).toBe(200);
    for (const generation of [1, 3])
      expect((await request({ authorization, state: sandbox(generation) })).body).toEqual(REFUSED);
  });
});

describe('the answer to a refused visitor token', () => {
  it.each<[string, Given]>([
    ['none', { authorization: undefined }],
    ['of another form', { authorization: 'Bearer x.y.z' }],
    ['an API key', { authorization: `Bearer ${inMemory().secret}` }],
    ['altered', { authorization: `Bearer ${token().slice(0, -1)}` }],
    ['sealed with another key', { authorization: `Bearer ${token({}, aKeyring({ fill: 'm' }))}` }],
    ['expired', { authorization: `Bearer ${token({ expiresAt: NOW.toISOString() })}` }],
    ['of another generation', { authorization: `Bearer ${token({ generation: 1 })}` }],
    ['of an organization that does not exist', { state: undefined }],
  ])('does not say the reason: %s', async (_, given) => {
    const { status, body, headers, seen, buckets } = await request(given);
    expect([status, body, seen, buckets]).toEqual([401, REFUSED, [], []]);
    expect(headers['WWW-Authenticate']).toBe('Bearer realm="conversation-service"');
  });
});

describe('a page of any site', () => {
  it.each<[string, number, Given]>([
    ['a success', 200, {}],
    ['a refusal of the token', 401, { authorization: 'Bearer cvt_x' }],
    ['a parameter that is refused', 400, { query: { limit: '2' } }],
    ['a spent budget', 429, { budget: 0 }],
    ['a defect', 500, { thrown: new Error('a defect') }],
    ['a busy dependency', 503, { thrown: Object.assign(new Error(''), { name: 'ThrottlingException' }) }],
  ])('may read the answer: %s', async (_, status, given) => {
    const answer = await request(given);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers':
        'Idempotency-Replayed, RateLimit, RateLimit-Policy, Request-Id, Retry-After',
      'Cache-Control': 'no-store',
    });
  });
});
