import { until } from 'aws-local/test/until.ts';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  type ReceivedDelivery,
  type Answer as Response,
  startReceiver,
} from '../../../../packages/cli/src/receiver/receiver.ts';
import { type ApiClient, apiClient } from '../../../support/api.ts';
import { eventViolations } from '../../../support/event-schemas.ts';
import { aSandbox, aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';

const MESSAGES = '/api/v1/widget/messages';
const EVERY_SECOND = [60_000, 1000] as const;

async function createResource(
  api: ApiClient,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const answer = await api.post(path, body);
  expect([path, answer.status]).toEqual([path, 201]);
  return Object(answer.body.data);
}
const aConversation = async (api: ApiClient, channelId: unknown) =>
  String((await createResource(api, '/api/v1/conversations', { channelId, externalUserId: 'ada' })).id);
const say = async (api: ApiClient, conversation: string, role: string, content: string) =>
  String((await createResource(api, `/api/v1/conversations/${conversation}/messages`, { role, content })).id);

type Seen = { messages: Record<string, unknown>[]; next: unknown; follow: unknown };
async function read(browser: ApiClient, query = ''): Promise<Seen> {
  const { status, headers, body } = await browser.get(`${MESSAGES}${query}`);
  expect(status).toBe(200);
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers['cache-control']).toBe('no-store');
  return {
    messages: body.data as unknown as Seen['messages'],
    next: body.nextCursor,
    follow: body.followCursor,
  };
}

/* Channels, and the messages that visitors of web widgets see. */
const place = aPlace('withoutWaits');
const { service, keep } = place;
const live = async () => keep(await aTenant(service()));

/** An `http` channel with a receiver of its own. */
async function anHttpChannel(api: ApiClient, respond: (delivery: ReceivedDelivery) => Response) {
  const received: ReceivedDelivery[] = [];
  const { url, stop } = await startReceiver({
    ...service().tls,
    respond,
    onDelivery: (delivery) => received.push(delivery),
  });
  keep({ close: stop });
  const { id, secret } = await createResource(api, '/api/v1/channels', {
    name: 'Messenger',
    kind: 'http',
    url,
  });
  const path = `/api/v1/channels/${id}`;
  return {
    id,
    path,
    secret: String(secret),
    received,
    ended: (count: number) =>
      until(`${count} deliveries to the channel`, async () => {
        const all = await api.all(`${path}/deliveries`);
        return all.length >= count && all.every(({ terminalAt }) => terminalAt !== null) && all;
      }),
  };
}

/** A conversation on a web widget, and a client with its visitor token. */
async function aVisitor({ api }: Tenant) {
  const { id: channelId } = await createResource(api, '/api/v1/channels', {
    name: 'Website',
    kind: 'web_widget',
  });
  const conversation = await aConversation(api, channelId);
  const { token } = await createResource(api, `/api/v1/conversations/${conversation}/visitor-token`);
  const browser = apiClient({ BASE_URL: service().url, API_KEY: String(token) });
  keep(browser);
  return { channelId, conversation, token: String(token), browser };
}
describe.concurrent('an http channel', { timeout: 120_000 }, () => {
  it('receives only the messages of agents and the assistant, signed', async () => {
    const { api, orgId } = await live();
    const channel = await anHttpChannel(api, () => ({ status: 200 }));
    const conversation = await aConversation(api, channel.id);
    const elsewhere = await aConversation(api, 'web');
    for (const role of ['user', 'system']) await say(api, conversation, role, 'not for the channel');
    await say(api, elsewhere, 'agent', 'somewhere else');
    const ids = [
      await say(api, conversation, 'assistant', 'One moment, please.'),
      await say(api, conversation, 'agent', 'Grüße 👋 from "Hamburg"'),
    ];

    const deliveries = await channel.ended(2);
    expect(deliveries).toHaveLength(2);
    for (const delivery of deliveries)
      expect(delivery).toMatchObject({
        channelId: channel.id,
        eventType: 'channel.message',
        status: 'succeeded',
        attempts: 1,
      });
    for (const { body, headers } of channel.received) {
      expect(new Webhook(channel.secret).verify(body.toString(), headers)).toBeTruthy();
      expect(eventViolations(body)).toEqual([]);
    }
    const events = channel.received.map(({ body }) => JSON.parse(body.toString()));
    expect(events.map(({ data }) => data.messageId).toSorted()).toEqual(ids.toSorted());
    expect(events).toContainEqual({
      type: 'channel.message',
      schemaVersion: 1,
      orgId,
      createdAt: expect.any(String),
      data: {
        channelId: channel.id,
        conversationId: conversation,
        messageId: ids[1],
        externalUserId: 'ada',
        role: 'agent',
        content: 'Grüße 👋 from "Hamburg"',
      },
    });
  });

  it('of a sandbox shows its requests and sends them to a simulated receiver', async () => {
    const { api } = keep(await aSandbox(service(), await live()));
    const received: ReceivedDelivery[] = [];
    const { url, stop } = await startReceiver({ ...service().tls, onDelivery: (it) => received.push(it) });
    keep({ close: stop });
    const { id, secret } = await createResource(api, '/api/v1/channels', {
      name: 'Messenger',
      kind: 'http',
      url: `${url}/?simulate=503,200&simulate-speed=1000`,
    });
    const large = 'x'.repeat(60_000);
    const conversation = await aConversation(api, id);
    await say(api, conversation, 'agent', 'Hello');
    await say(api, conversation, 'agent', large);

    const path = `/api/v1/channels/${id}/deliveries`;
    const all = await until('both deliveries to end', async () => {
      const deliveries = await api.all(path, { include: 'request' });
      return (
        deliveries.length === 2 && deliveries.every(({ terminalAt }) => terminalAt !== null) && deliveries
      );
    });
    for (const delivery of all)
      expect(delivery).toMatchObject({
        status: 'succeeded',
        attempts: 2,
        terminalReason: 'sandbox_simulated',
      });
    // A body that is too large is not stored with the attempts.
    const [kept, ...others] = all.flatMap(({ request }) => (request ? [Object(request)] : []));
    expect(others).toEqual([]);
    expect(new Webhook(String(secret)).verify(kept.body, kept.headers)).toMatchObject({
      data: { content: 'Hello', channelId: id },
    });
    expect(received).toEqual([]);
  });
});

describe.concurrent('a visitor of a web widget', { timeout: 120_000 }, () => {
  it('reads all messages page by page when they exceed the size of an answer, as the API does', async () => {
    const tenant = await live();
    const { conversation, browser } = await aVisitor(tenant);
    const said: string[] = [];
    // Each message takes 200,000 bytes of an answer, and twice as many in a function's response to the
    // gateway.
    for (let count = 0; count < 18; count += 1)
      said.push(String(await say(tenant.api, conversation, 'agent', '"'.repeat(100_000))));

    await say(tenant.api, conversation, 'system', 'not for the visitor');
    const seen: string[] = [];
    let query = '?limit=100';
    await until(
      'the visitor to have read all messages',
      async () => {
        const { messages, follow } = await read(browser, query);
        seen.push(...messages.map(({ id }) => String(id)));
        query = `?limit=100&cursor=${follow}`;
        return seen.length >= said.length;
      },
      ...EVERY_SECOND,
    );
    expect(seen).toEqual(said);

    const [note, ...listed] = await tenant.api.all(`/api/v1/conversations/${conversation}/messages`);
    expect(note).toMatchObject({ role: 'system' });
    expect(listed.map(({ id }) => id)).toEqual(said.toReversed());
  });

  it('reads with the token from any origin, and is refused with every other credential', async () => {
    const tenant = await live();
    const { token, browser } = await aVisitor(tenant);
    const preflight = await browser.call({
      method: 'OPTIONS',
      path: MESSAGES,
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, GET',
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key',
      'access-control-max-age': '7200',
    });
    const at = Math.floor(token.length / 2);
    const altered = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    for (const credential of [altered, tenant.key, tenant.session, 'cvt_x', '']) {
      const { status, headers, body } = await tenant.api.call({
        path: MESSAGES,
        headers: { authorization: `Bearer ${credential}` },
      });
      expect([status, body.error?.type]).toEqual([401, 'AUTHENTICATION_ERROR']);
      expect(headers['access-control-allow-origin']).toBe('*');
    }
    // The token gives access to nothing else.
    for (const path of ['/api/v1/conversations', '/api/settings/organization'])
      expect((await browser.get(path)).status).toBe(401);
  });
});
