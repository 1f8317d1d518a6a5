import { PATIENCE } from 'aws-local/test/patience.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../../support/api.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';

const LOG = '/api/settings/audit-log';
const EVENTS = ['ticket.created'];

/* The audit log over HTTP, of an organization whose set-up nothing else changes. */
const place = aPlace();

describe('the audit log', () => {
  let live: Tenant;
  let sandbox: Tenant;

  beforeAll(async () => {
    ({ live, sandbox } = await place.pair());
  }, 60_000 * PATIENCE);

  it('shows who changed what, when and by which request, newest first', async () => {
    const registered = await live.api.post('/api/v1/webhooks', { url: live.receiver, events: EVENTS });
    const id = String(registered.body.data?.id);
    const renamed: Answer = await live.admin.call({
      method: 'PATCH',
      path: `/api/settings/webhooks/${id}`,
      body: { events: ['conversation.created'] },
    });
    expect(renamed.status).toBe(200);
    const removed = await live.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });

    const entries = await live.admin.all(LOG);

    const ofEndpoint = entries.filter(({ target }) => Object(target).id === id);
    const byKey = { type: 'api_key', id: expect.stringMatching(/^key_/), email: null };
    const rest = (action: string, { headers }: Answer) => ({
      id: expect.stringMatching(/^aud_/),
      action,
      target: { type: 'webhook', id },
      requestId: headers['request-id'],
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(ofEndpoint).toEqual([
      {
        ...rest('webhook.deleted', removed),
        actor: byKey,
        changes: [
          { field: 'url', before: live.receiver, after: null },
          { field: 'events', before: ['conversation.created'], after: null },
        ],
      },
      {
        ...rest('webhook.updated', renamed),
        actor: { type: 'user', id: expect.any(String), email: `admin@${live.orgId}.test` },
        changes: [{ field: 'events', before: EVENTS, after: ['conversation.created'] }],
      },
      {
        ...rest('webhook.created', registered),
        actor: byKey,
        changes: [
          { field: 'url', before: null, after: live.receiver },
          { field: 'events', before: null, after: EVENTS },
        ],
      },
    ]);
    const ids = entries.map((entry) => String(entry.id));
    expect(ids).toEqual(ids.toSorted().reverse());
  });

  it('of a sandbox is filtered, and survives a reset with its cursors', async () => {
    const { id } = await sandbox.api.register('https://hooks.example.com/', EVENTS);
    await sandbox.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
    const read = async (query = {}) =>
      (await live.admin.all(LOG, { environment: 'sandbox', ...query })).map(({ action }) => action);
    const all = ['webhook.deleted', 'webhook.created'];
    const { body: first } = await live.admin.get(`${LOG}?environment=sandbox&limit=1`);
    expect((await live.admin.post('/api/settings/sandbox/reset')).status).toBe(200);

    expect(await read()).toEqual(all);
    expect(await read({ action: 'webhook.created', actorType: 'api_key' })).toEqual(all.slice(1));
    expect(await read({ actorType: 'operator,user' })).toEqual([]);
    const cursor = encodeURIComponent(String(first.nextCursor));
    const { body } = await live.admin.get(`${LOG}?environment=sandbox&cursor=${cursor}`);
    expect([...(body.data ?? [])].map(({ action }) => action)).toEqual(all.slice(1));
  });
});
