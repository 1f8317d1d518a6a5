import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import type { ApiClient, Data } from '../../../support/api.ts';
import { eventViolations } from '../../../support/event-schemas.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ok } from '../receivers.ts';

const PATH = '/api/v1/events';

/* The event log over HTTP. */
const organization = anOrganization(aPlace());
const { subscribe } = organization;

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

describe.concurrent('the event log', { timeout: 60_000 * PATIENCE }, () => {
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
});
