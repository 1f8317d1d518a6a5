import { PATIENCE } from 'aws-local/test/patience.ts';
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
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';

const MESSAGES = '/api/v1/widget/messages';

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

/* Channels, and the messages that visitors of web widgets see. */
const place = aPlace();
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
describe.concurrent('an http channel', { timeout: 120_000 * PATIENCE }, () => {
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
});

describe.concurrent('a visitor of a web widget', { timeout: 120_000 * PATIENCE }, () => {
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
