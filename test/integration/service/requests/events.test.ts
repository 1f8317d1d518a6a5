import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import type { ApiClient, Data } from '../../../support/api.ts';
import { eventViolations } from '../../../support/event-schemas.ts';
import { aTenant } from '../../../support/tenant.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ok, path } from '../receivers.ts';

const PATH = '/api/v1/events';

/* The event log over HTTP. */
const organization = anOrganization(aPlace('withoutWaits'));
const { subscribe, place } = organization;

/** A request that causes one event, with a text of its own. */
async function createTicket(api: ApiClient, reason: string): Promise<string> {
  const { status, body } = await api.post('/api/v1/tickets', { reason });
  expect(status).toBe(201);
  return String(body.data?.id);
}

/** The newest event of a ticket. */
async function findEvent(api: ApiClient, ticketId: string): Promise<Record<string, unknown>> {
  const { body } = await api.get(`${PATH}?type=ticket.created&limit=100`);
  const items = [...(body.data ?? [])];
  return (
    items.find(({ data }) => Object(data).ticketId === ticketId) ?? expect.fail(`no event of ${ticketId}`)
  );
}

/** Sends a test event, which only this endpoint gets. */
async function sendTest(id: string): Promise<Record<string, unknown>> {
  const { status, body } = await organization.api.post(`${path(id)}/test`);
  expect(status).toBe(202);
  return body.data ?? expect.fail('an event was to be returned');
}

/** Reads an event when its deliveries at an endpoint have ended. */
const readEnded = (eventId: unknown, id: string, count = 1) =>
  until(`${count} deliveries of ${eventId} at ${id} to end`, async () => {
    const event = await readEvent(eventId);
    const own = event.deliveries.filter(({ webhookId }) => webhookId === id);
    return own.length === count && own.every(({ terminalAt }) => terminalAt !== null) && { event, own };
  });

async function readEvent(id: unknown): Promise<Data & { deliveries: Data[] }> {
  const { status, body } = await organization.api.get(`${PATH}/${id}`);
  expect(status).toBe(200);
  return body.data as Data & { deliveries: Data[] };
}

async function createKey(scopes: string[]): Promise<ApiClient> {
  const admin = organization.client(organization.sessions.admin);
  const { body } = await admin.post('/api/settings/api-keys', { name: 'for the event log', scopes });
  return organization.client(String(body.data?.secretOnce));
}

describe.concurrent('the event log', { timeout: 60_000 }, () => {
  it('has an event with the payload that the receiver got, and its delivery', async () => {
    const { id, received } = await subscribe(ok);
    const event = await findEvent(organization.api, await createTicket(organization.api, 'the payload'));

    const { event: shown, own } = await readEnded(event.id, id);

    const { payload, deliveries, undelivered, ...read } = shown;
    expect(event).toMatchObject({ type: 'ticket.created', schemaVersion: 1 });
    expect(read).toEqual(event);
    const request = received.find(({ headers }) => headers['webhook-id'] === event.id);
    expect(payload).toBe(request?.body.toString());
    expect(eventViolations(String(payload))).toEqual([]);
    expect(JSON.parse(String(payload))).toMatchObject({
      type: event.type,
      createdAt: event.createdAt,
      data: Object(event.data),
    });
    expect(own).toMatchObject([
      {
        id: request?.headers['webhook-delivery-id'],
        channelId: null,
        receiverStatus: 'active',
        status: 'succeeded',
        attemptLog: [{ number: 1, status: 200, request: null }],
      },
    ]);
  });

  it('keeps the deliveries of a deleted endpoint, which itself is not found', async () => {
    const { id } = await subscribe(() => ({ status: 500 }), ['handoff.requested']);
    const { eventId, deliveryId } = await sendTest(id);
    await readEnded(eventId, id);
    const { url } = Object((await organization.api.get(path(id))).body.data);

    await organization.api.call({ method: 'DELETE', path: path(id) });

    expect((await organization.api.get(path(id))).status).toBe(404);
    const { own } = await readEnded(eventId, id);
    expect(own).toMatchObject([
      { id: deliveryId, url, receiverStatus: 'deleted', status: 'exhausted', attempts: 8 },
    ]);
  });

  it('has the redelivery that arrived beside the delivery that failed', async () => {
    let isUp = false;
    const { id } = await subscribe(() => ({ status: isUp ? 200 : 503 }), ['handoff.requested']);
    const { eventId, deliveryId } = await sendTest(id);
    await readEnded(eventId, id);
    isUp = true;

    const { body } = await organization.api.post(`${path(id)}/deliveries/${deliveryId}/redeliver`);

    const { own } = await readEnded(eventId, id, 2);
    expect(own).toMatchObject([
      { id: deliveryId, status: 'exhausted', redeliveryOf: null },
      { id: body.data?.id, status: 'succeeded', redeliveryOf: deliveryId },
    ]);
  });

  it('lists events with their deliveries, for keys and sessions, if they are requested', async () => {
    const { id } = await subscribe(ok, ['handoff.requested']);
    const { eventId, deliveryId } = await sendTest(id);
    const { event } = await readEnded(eventId, id);
    const query = '?type=webhook.test&limit=100&include=deliveries';
    const session = organization.client(organization.sessions.member);

    for (const { status, body } of [
      await organization.api.get(`${PATH}${query}`),
      await session.get(`/api/settings/events${query}`),
    ]) {
      expect(status).toBe(200);
      const { payload, deliveries, undelivered, ...read } = event;
      const listed = [...(body.data ?? [])].find((one) => one.id === eventId);
      expect(listed).toEqual({
        ...read,
        deliveries: deliveries.map(({ attemptLog, ...summary }) => summary),
      });
      expect(listed).toMatchObject({ deliveries: [{ id: deliveryId, webhookId: id }] });
    }
    const [plain] = (await organization.api.get(`${PATH}?limit=1`)).body.data ?? [];
    expect(plain).not.toHaveProperty('deliveries');
  });

  it('can be followed, oldest first, from any time', async () => {
    const from = new Date(Date.now() - 60_000).toISOString();
    const tickets: string[] = [];
    for (const reason of ['first', 'second', 'third'])
      tickets.push(await createTicket(organization.api, reason));
    const read: unknown[] = [];
    let query = `?order=asc&type=ticket.created&limit=2&from=${from}`;

    await until('the follower to have read the three events', async () => {
      const { status, body } = await organization.api.get(`${PATH}${query}`);
      expect(status).toBe(200);
      const [base = ''] = query.split('&cursor=');
      query = `${base}&cursor=${body.followCursor}`;
      read.push(...[...(body.data ?? [])].map(({ data }) => Object(data).ticketId));
      return tickets.every((ticket) => read.includes(ticket));
    });

    expect(read.filter((ticket) => tickets.includes(String(ticket)))).toEqual(tickets);
  });

  it('shows a message for a channel only to who may read conversations', async () => {
    const { body } = await organization.api.post('/api/v1/channels', {
      kind: 'http',
      name: 'Chat',
      url: 'https://example.com/channel',
    });
    const channelId = String(body.data?.id);
    const conversation = await organization.api.post('/api/v1/conversations', {
      channelId,
      externalUserId: 'ada',
    });
    await organization.api.post(`/api/v1/conversations/${conversation.body.data?.id}/messages`, {
      role: 'agent',
      content: 'only for the channel',
    });
    const query = `${PATH}?type=channel.message`;
    const [event] = (await organization.api.get(query)).body.data ?? [];
    expect(event).toMatchObject({ data: { channelId, content: 'only for the channel' } });

    const limited = await createKey(['read:webhooks']);
    const full = await createKey(['read:webhooks', 'read:conversations']);

    expect((await limited.get(query)).body.data).toEqual([]);
    expect((await limited.get(`${PATH}/${event?.id}`)).status).toBe(404);
    const types = [...((await limited.get(`${PATH}?limit=100`)).body.data ?? [])].map(({ type }) => type);
    expect(types).toContain('conversation.created');
    expect(types).not.toContain('channel.message');
    expect((await full.get(`${PATH}/${event?.id}`)).body.data).toMatchObject({
      deliveries: [{ webhookId: null, channelId, receiverStatus: 'active' }],
    });
  });

  it('is one of its organization and environment', async () => {
    const ticketId = await createTicket(organization.api, 'of the live organization');
    const event = await findEvent(organization.api, ticketId);
    const foreign = place.keep(await aTenant(place.service()));
    const sandbox = organization.client(organization.sandboxKey);
    const sandboxTicket = await createTicket(sandbox, 'of the sandbox');

    for (const other of [foreign.api, sandbox]) {
      expect((await other.get(`${PATH}/${event.id}`)).status).toBe(404);
      const listed = [...((await other.get(`${PATH}?limit=100`)).body.data ?? [])];
      expect(listed.map(({ id }) => id)).not.toContain(event.id);
    }
    expect(await findEvent(sandbox, sandboxTicket)).toMatchObject({ type: 'ticket.created' });
    const dashboard = organization.client(organization.sessions.member);
    const { body } = await dashboard.get(`/api/settings/events/${event.id}`);
    expect(body.data).toMatchObject({ id: event.id });
  });

  it.each([
    ['order=up', 'order'],
    ['include=payload', 'include'],
    ['type=webhook.made', 'type'],
    ['from=yesterday', 'from'],
    ['cursor=altered', 'cursor'],
  ])('refuses ?%s', async (query, field) => {
    const { status, body } = await organization.api.get(`${PATH}?${query}`);
    expect([status, body.error?.type]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error?.message).toContain(field);
  });

  it('refuses the cursor of another order', async () => {
    const { body } = await organization.api.get(`${PATH}?order=asc`);
    const { status } = await organization.api.get(`${PATH}?cursor=${body.nextCursor}`);
    expect(status).toBe(400);
  });
});
