import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';

/* Webhook endpoints over HTTP, and what the gateway refuses itself. */
const organization = anOrganization(aPlace('withoutWaits'));
const path = '/api/v1/webhooks';
const webhook = { url: 'https://hooks.example.com/in', events: ['message.received'] };

describe('webhook endpoints', () => {
  it('can be registered, read, listed, updated and deleted', async () => {
    const registered = await organization.api.post(path, webhook);
    expect(registered.status).toBe(201);
    const { id, secret, redelivery, ...shown } = Object(registered.body.data);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toMatchObject({ ...webhook, status: 'active', consecutiveFailures: 0, description: null });
    const own = `${path}/${id}`;
    expect(registered.headers.location).toBe(own);
    expect((await organization.api.get(own)).body.data).toEqual({ id, ...shown });

    const changed = { url: 'https://other.example.com/', events: ['ticket.created'], description: '🚚' };
    const updated = await organization.api.call({ method: 'PATCH', path: own, body: changed });
    expect(updated.body.data).toEqual({ id, ...shown, ...changed, redelivery: null });
    expect(await organization.api.all(path)).toContainEqual({ id, ...shown, ...changed });

    for (let times = 0; times < 2; times++)
      expect((await organization.api.call({ method: 'DELETE', path: own })).status).toBe(204);
    expectProblem(await organization.api.get(own), 404, 'NOT_FOUND');
  });

  it.each(['10.0.0.1', '[::ffff:10.0.0.1]', 'metadata.internal'])(
    'are neither registered at nor changed to the host %s',
    async (host) => {
      const { id } = await organization.api.register(webhook.url, webhook.events);
      const body = { ...webhook, url: `https://${host}/` };
      expectProblem(await organization.api.post(path, body), 400, 'VALIDATION_ERROR', /url/);
      const change = { method: 'PATCH', path: `${path}/${id}`, body: { url: body.url } };
      expectProblem(await organization.api.call(change), 400, 'VALIDATION_ERROR', /url/);
      expect((await organization.api.get(`${path}/${id}`)).body.data?.url).toBe(webhook.url);
    },
  );
});

describe('the gateway', () => {
  it('refuses a body beyond its own limit in the envelope', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const body = 'x'.repeat(11 * 1024 * 1024);
    const answer = await organization.api.call({ method: 'POST', path, headers, body });
    expectProblem(answer, 413, 'PAYLOAD_TOO_LARGE');
  });

  it.each([`${path}/${'x'.repeat(3000)}`, `${path}/%23%00`, '/api/v1/nothing', '/api/nothing'])(
    'answers 404 for %s',
    async (unknown) => {
      expectProblem(await organization.api.get(unknown), 404, 'NOT_FOUND');
    },
  );

  it.each(['application/json', 'text/plain', 'no type at all'])(
    'answers 405 for another method and 404 for an unknown path, whatever the content type: %s',
    async (type) => {
      const sent = { headers: { 'content-type': type }, body: '<a>' };
      const wrong = await organization.api.call({ method: 'PATCH', path, ...sent });
      expectProblem(wrong, 405, 'METHOD_NOT_ALLOWED');
      expect(String(wrong.headers.allow).split(', ').sort()).toEqual(['GET', 'POST']);
      const unknown = { method: 'POST', path: '/api/v1/nothing', ...sent };
      expectProblem(await organization.api.call(unknown), 404, 'NOT_FOUND');
    },
  );

  it('gives each request an id that a client cannot choose', async () => {
    const chosen = { 'x-amzn-requestid': 'mine', 'request-id': 'mine', 'x-amz-apigw-id': 'mine' };
    const answers = await Promise.all([1, 2].map(() => organization.api.call({ path, headers: chosen })));
    const ids = answers.map(({ headers }) => String(headers['request-id']));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).not.toContain('mine');
  });
});
