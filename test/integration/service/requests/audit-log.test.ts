import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../../support/api.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aDisabledEndpoint } from '../background/disabled-endpoint.ts';
import { aPlace } from '../place.ts';

const LOG = '/api/settings/audit-log';
const EVENTS = ['ticket.created'];
/** A receiver that fails, in a sandbox. */
const FAILING = 'https://hooks.example.com/?simulate=500';

/* The audit log over HTTP, of an organization whose set-up nothing else changes. */
const place = aPlace('withoutWaits');

describe('the audit log', () => {
  let live: Tenant;
  let sandbox: Tenant;

  beforeAll(async () => {
    ({ live, sandbox } = await place.pair());
  }, 60_000);

  const readActions = async (query: Record<string, string> = {}) =>
    (await live.admin.all(LOG, query)).map(({ action }) => action);

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

  it('is filtered by actor, action and time', async () => {
    const all = await live.admin.all(LOG);
    const from = String(all[1]?.createdAt);
    const actorId = String(all.map(({ actor }) => Object(actor)).find(({ type }) => type === 'user').id);
    for (const [query, keeps] of [
      [{ actorId }, ({ actor }) => Object(actor).id === actorId],
      [{ actorType: 'operator,user' }, ({ actor }) => Object(actor).type !== 'api_key'],
      [{ action: 'webhook.deleted,webhook.updated' }, ({ action }) => /deleted|updated/.test(String(action))],
      [{ from }, ({ createdAt }) => String(createdAt) >= from],
      [{ to: from }, ({ createdAt }) => String(createdAt) < from],
    ] satisfies [Record<string, string>, (entry: Record<string, unknown>) => boolean][])
      expect(await live.admin.all(LOG, query), JSON.stringify(query)).toEqual(all.filter(keeps));
  });

  it('of a sandbox has its changes and automatic disabling, and survives a reset', async () => {
    const id = await aDisabledEndpoint(place.service(), sandbox, FAILING);
    const read = () => live.admin.all(LOG, { environment: 'sandbox' });
    const before = await read();
    expect(
      before.map(({ action, actor, target }) => [action, Object(actor).type, Object(target).id]),
    ).toEqual([
      ['webhook.disabled', 'service', id],
      ['webhook.created', 'api_key', id],
    ]);
    expect(before[0]).toMatchObject({
      changes: [{ field: 'status', before: 'active', after: 'auto_disabled' }],
      requestId: null,
    });

    const { body: first } = await live.admin.get(`${LOG}?environment=sandbox&limit=1`);
    expect((await live.admin.post('/api/settings/sandbox/reset')).status).toBe(200);

    expect(await read()).toEqual(before);
    const cursor = encodeURIComponent(String(first.nextCursor));
    const { body } = await live.admin.get(`${LOG}?environment=sandbox&cursor=${cursor}`);
    expect([...(body.data ?? [])]).toEqual(before.slice(1));
    const [reset] = await live.admin.all(LOG, { action: 'sandbox.reset' });
    expect(reset).toMatchObject({ target: { type: 'sandbox', id: sandbox.orgId } });
    expect(await readActions({ action: 'sandbox.provisioned' })).toHaveLength(1);
  });
});
