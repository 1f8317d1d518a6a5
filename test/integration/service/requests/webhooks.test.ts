import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';

/* Answers to valid and invalid requests of webhook endpoints. */
const organization = anOrganization(aPlace('withoutWaits'));
const url = 'https://hooks.example.com/in';
const webhook = { url, events: ['message.received'] };
const listed = async () => (await organization.api.all('/api/v1/webhooks')).length;

describe('webhook endpoints', () => {
  it('can be registered, read, listed, updated and deleted', async () => {
    const registered = await organization.api.post('/api/v1/webhooks', webhook);
    expect(registered.status).toBe(201);
    const { id, secret, redelivery, ...shown } = Object(registered.body.data);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toMatchObject({ ...webhook, status: 'active', consecutiveFailures: 0 });
    expect(shown).toMatchObject({
      description: null,
      failing: null,
      disabledAt: null,
      disabledReason: null,
    });
    expect(registered.headers.location).toBe(`/api/v1/webhooks/${id}`);

    const read = await organization.api.get(`/api/v1/webhooks/${id}`);
    expect(read.body.data).toEqual({ id, ...shown });

    const changed = { url: 'https://other.example.com/', events: ['ticket.created'], description: '🚚' };
    const updated = await organization.api.call({
      method: 'PATCH',
      path: `/api/v1/webhooks/${id}`,
      body: changed,
    });
    expect(updated.body.data).toEqual({ id, ...shown, ...changed, redelivery: null });
    expect(await organization.api.all('/api/v1/webhooks')).toContainEqual({ id, ...shown, ...changed });

    for (let times = 0; times < 2; times++)
      expect((await organization.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` })).status).toBe(
        204,
      );
    expectProblem(await organization.api.get(`/api/v1/webhooks/${id}`), 404, 'NOT_FOUND');
  });

  it.each([
    ['an unknown event', { url, events: ['conversation.exploded'] }, /events/],
    ['the test event, which none may subscribe to', { url, events: ['webhook.test'] }, /events/],
    ['a wildcard', { url, events: ['*'] }, /events/],
    ['no event', { url, events: [] }, /events/],
    ['an event twice', { url, events: ['ticket.created', 'ticket.created'] }, /events/],
    ['events that are no list', { url, events: 'ticket.created' }, /events/],
    ['no url', { events: ['ticket.created'] }, /url/],
    ['a url that is no text', { url: 7, events: ['ticket.created'] }, /url/],
    ['http', { url: 'http://hooks.example.com', events: ['ticket.created'] }, /url/],
    [
      'a long url',
      { url: `https://hooks.example.com/${'x'.repeat(2048)}`, events: ['ticket.created'] },
      /url/,
    ],
    ['a long description', { ...webhook, description: 'x'.repeat(201) }, /description/],
    ['a limit of no attempts', { ...webhook, maxPerSecond: 0 }, /maxPerSecond/],
    ['a limit above a thousand', { ...webhook, maxPerSecond: 1001 }, /maxPerSecond/],
    ['a limit that is no integer', { ...webhook, maxPerSecond: 0.5 }, /maxPerSecond/],
    ['credentials', { url: 'https://a:b@hooks.example.com/', events: ['ticket.created'] }, /url/],
    ['a fragment', { url: 'https://hooks.example.com/#in', events: ['ticket.created'] }, /url/],
    ['a list as the body', [webhook], /body/],
    ['null as the body', null, /body/],
  ])('are not registered with %s', async (_, body, message) => {
    const before = await listed();
    const answer = await organization.api.post('/api/v1/webhooks', body);
    expectProblem(answer, 400, 'VALIDATION_ERROR');
    expect(answer.body.error?.message).toMatch(message);
    expect(await listed()).toBe(before);
  });

  it('refuse addresses outside the public ranges in every notation, at registration and at update', async () => {
    const hosts = [
      '10.0.0.1',
      '0xa.1',
      '167772161',
      '012.0.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
    ];
    hosts.push(
      '[::ffff:10.0.0.1]',
      '[fd00:ec2::254]',
      '[fe80::1]',
      '[64:ff9b::a00:1]',
      '0.0.0.0',
      'metadata.internal',
    );
    const before = await listed();
    const { id } = await organization.api.register(url, ['message.received']);
    for (const host of hosts) {
      const body = { url: `https://${host}/`, events: ['message.received'] };
      expectProblem(await organization.api.post('/api/v1/webhooks', body), 400, 'VALIDATION_ERROR');
      const path = `/api/v1/webhooks/${id}`;
      expectProblem(
        await organization.api.call({ method: 'PATCH', path, body: { url: body.url } }),
        400,
        'VALIDATION_ERROR',
      );
    }
    expect((await organization.api.get(`/api/v1/webhooks/${id}`)).body.data?.url).toBe(url);
    await organization.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
    expect(await listed()).toBe(before);
  });
});

describe('requests', () => {
  const path = '/api/v1/webhooks';
  const json = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };

  it.each([
    ['no JSON', { body: '{"url":', headers: json }, 400, 'VALIDATION_ERROR'],
    ['no body', { headers: { 'idempotency-key': randomUUID() } }, 400, 'VALIDATION_ERROR'],
    [
      'a form',
      { body: 'url=x', headers: { ...json, 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'too large a body',
      { body: JSON.stringify({ ...webhook, pad: 'x'.repeat(262_144) }), headers: json },
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    [
      'a body beyond the gateway’s limit',
      { body: 'x'.repeat(11 * 1024 * 1024), headers: json },
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    ['no idempotency key', { body: webhook, headers: {} }, 400, 'VALIDATION_ERROR'],
    [
      'an idempotency key that is no UUID',
      { body: webhook, headers: { 'idempotency-key': 'once' } },
      400,
      'VALIDATION_ERROR',
    ],
  ])('with %s get the error envelope, and nothing is written', async (_, call, status, type) => {
    const before = await listed();
    expectProblem(await organization.api.call({ method: 'POST', path, ...call }), status, type);
    expect(await listed()).toBe(before);
  });

  it.each([
    ['no key', ''],
    ['a malformed key', 'ck_live_short'],
    ['an unknown key', `ck_live_${'A'.repeat(43)}`],
    ['a sandbox key without a pairing', `ck_sandbox_${'A'.repeat(43)}`],
  ])('with %s get the same answer', async (_, key) => {
    const stranger = organization.client(key);
    const answer = await stranger.get('/api/v1/conversations');
    expectProblem(answer, 401, 'AUTHENTICATION_ERROR');
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('to unknown paths and with other methods get the same envelope from the gateway', async () => {
    expectProblem(await organization.api.get('/api/v1/nothing'), 404, 'NOT_FOUND');
    expectProblem(await organization.api.get('/api/nothing'), 404, 'NOT_FOUND');
    const wrong = await organization.api.call({ method: 'PUT', path });
    expectProblem(wrong, 405, 'METHOD_NOT_ALLOWED');
    expect(String(wrong.headers.allow).split(', ').sort()).toEqual(['GET', 'POST']);
  });

  it.each(['text/plain', 'strange/type', 'no type at all'])(
    'with other methods get 405 and unknown paths 404, with any content type: %s',
    async (type) => {
      const headers = { 'content-type': type };
      const wrong = await organization.api.call({ method: 'PATCH', path, headers, body: '<a>' });
      expectProblem(wrong, 405, 'METHOD_NOT_ALLOWED');
      expect(String(wrong.headers.allow).split(', ').sort()).toEqual(['GET', 'POST']);
      const unknown = { method: 'POST', path: '/api/v1/nothing', headers, body: '<a>' };
      expectProblem(await organization.api.call(unknown), 404, 'NOT_FOUND');
    },
  );

  it('have an id that a client cannot choose', async () => {
    const chosen = { 'x-amzn-requestid': 'mine', 'request-id': 'mine', 'x-amz-apigw-id': 'mine' };
    const ids = await Promise.all(
      [1, 2].map(() => organization.api.call({ path: '/api/v1/conversations', headers: chosen })),
    );
    expect(new Set(ids.map(({ headers }) => headers['request-id'])).size).toBe(2);
    for (const { headers } of ids) expect(headers['request-id']).not.toContain('mine');
  });
});

describe('idempotency keys', () => {
  it('record successes only', async () => {
    const key = { 'idempotency-key': randomUUID() };
    expectProblem(
      await organization.api.post('/api/v1/conversations', { channelId: '' }, key),
      400,
      'VALIDATION_ERROR',
    );
    const body = { channelId: 'web', externalUserId: 'ada' };
    expect((await organization.api.post('/api/v1/conversations', body, key)).status).toBe(201);
  });
});

describe('lists', () => {
  it('clamp the limit and refuse what is no integer', async () => {
    for (const limit of ['', '0', '-3', '101', '99999999999999999999'])
      expect((await organization.api.get(`/api/v1/conversations?limit=${limit}`)).status).toBe(200);
    for (const limit of ['ten', '1.5', '1e2', '0x10'])
      expectProblem(
        await organization.api.get(`/api/v1/conversations?limit=${limit}`),
        400,
        'VALIDATION_ERROR',
      );
  });
});

describe('statistics', () => {
  it('clamp the hours and refuse what is no integer', async () => {
    const { id } = await organization.api.register(url, ['message.received']);
    const spans = { '': 24, 24: 24, 0: 1, '-3': 1, 168: 168, 169: 168, 99999999999999999999: 168 };
    for (const [given, hours] of Object.entries(spans)) {
      const { status, body } = await organization.api.get(`/api/v1/webhooks/${id}/stats?hours=${given}`);
      expect(status).toBe(200);
      const { from, to } = Object(body.data);
      expect([given, Date.parse(to) - Date.parse(from)]).toEqual([given, hours * 3_600_000]);
    }
    for (const given of ['ten', '1.5', '1e2', '0x10']) {
      const refused = await organization.api.get(`/api/v1/webhooks/${id}/stats?hours=${given}`);
      expectProblem(refused, 400, 'VALIDATION_ERROR');
      expect(refused.body.error?.message).toBe('hours must be an integer.');
    }
    await organization.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
    expectProblem(await organization.api.get(`/api/v1/webhooks/${id}/stats`), 404, 'NOT_FOUND');
  });
});

describe('an unknown resource', () => {
  const absent = '0'.repeat(12).concat('7000a000000000000000');

  it.each([
    ['GET', `/api/v1/webhooks/whk_${absent}`],
    ['PATCH', `/api/v1/webhooks/whk_${absent}`],
    ['POST', `/api/v1/webhooks/whk_${absent}/test`],
    ['GET', `/api/v1/webhooks/whk_${absent}/stats`],
    ['GET', `/api/v1/webhooks/whk_${absent}/deliveries`],
    ['GET', `/api/v1/webhooks/whk_${absent}/deliveries/dlv_${absent}`],
    ['GET', `/api/v1/conversations/cnv_${absent}`],
    ['GET', `/api/v1/conversations/cnv_${absent}/messages`],
    ['POST', `/api/v1/conversations/cnv_${absent}/messages`],
    ['GET', '/api/v1/conversations/nonsense'],
    ['GET', `/api/v1/conversations/${'x'.repeat(3000)}`],
    ['GET', '/api/v1/conversations/%23%00'],
  ])('is a 404: %s %s', async (method, path) => {
    const body = path.endsWith('/messages') && method === 'POST' ? { role: 'user', content: 'x' } : undefined;
    const headers = { 'idempotency-key': randomUUID() };
    const patch = method === 'PATCH' ? { events: ['ticket.created'] } : body;
    expectProblem(await organization.api.call({ method, path, headers, body: patch }), 404, 'NOT_FOUND');
  });
});
