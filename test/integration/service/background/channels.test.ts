import { until } from 'aws-local/test/until.ts';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  type ReceivedDelivery,
  type Answer as Response,
  startReceiver,
} from '../../../../packages/cli/src/receiver/receiver.ts';
import { type ApiClient, apiClient } from '../../../support/api.ts';
import { casesOf } from '../../../support/cases.ts';
import { eventViolations } from '../../../support/event-schemas.ts';
import { aSandbox, aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';

const MESSAGES = '/api/v1/widget/messages';
/** Parallel messages of an assistant, and how often. */
const BURST = casesOf(5, 20);
const BURSTS = casesOf(6, 30);
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

  it('retries a failed delivery and shows its attempts', async () => {
    const { api } = await live();
    const channel = await anHttpChannel(api, ({ headers }) => ({
      status: headers['webhook-attempt'] === '1' ? 500 : 200,
    }));
    await say(api, await aConversation(api, channel.id), 'agent', 'Hello');

    const [delivery] = await channel.ended(1);
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 2 });
    const { body } = await api.get(`${channel.path}/deliveries/${delivery?.id}`);
    expect(Object(body.data).attemptLog).toMatchObject([{ status: 500 }, { status: 200 }]);
    expect(channel.received.map(({ headers }) => headers['webhook-delivery-id'])).toEqual([
      delivery?.id,
      delivery?.id,
    ]);
  });

  it('receives nothing after its deletion, while its conversations continue', async () => {
    const { api } = await live();
    const channel = await anHttpChannel(api, () => ({ status: 200 }));
    const other = await anHttpChannel(api, () => ({ status: 200 }));
    const conversation = await aConversation(api, channel.id);
    for (const status of [204, 204])
      expect((await api.call({ method: 'DELETE', path: channel.path })).status).toBe(status);

    await say(api, conversation, 'agent', 'into the void');
    await say(api, await aConversation(api, other.id), 'agent', 'Hello');
    // By now a delivery to the deleted channel would have arrived too.
    await other.ended(1);
    expect(channel.received).toEqual([]);
    expect((await api.get(`${channel.path}/deliveries`)).status).toBe(404);
    expect((await api.get(channel.path)).status).toBe(404);
    const refused = await api.post('/api/v1/conversations', {
      channelId: channel.id,
      externalUserId: 'ada',
    });
    expect([refused.status, refused.body.error?.type]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('of another organization can be neither named nor read nor deleted', async () => {
    const [owner, stranger] = [await live(), await live()];
    const channel = await anHttpChannel(owner.api, () => ({ status: 200 }));
    const refused = await stranger.api.post('/api/v1/conversations', {
      channelId: channel.id,
      externalUserId: 'ada',
    });
    expect([refused.status, refused.body.error?.type]).toEqual([400, 'VALIDATION_ERROR']);
    expect((await stranger.api.get(channel.path)).status).toBe(404);
    await stranger.api.call({ method: 'DELETE', path: channel.path });
    expect((await owner.api.get(channel.path)).status).toBe(200);
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
  it('reads new messages of the conversation in order, without those of other roles', async () => {
    const tenant = await live();
    const { conversation, browser } = await aVisitor(tenant);
    const empty = { messages: [], next: null, follow: expect.any(String) };
    expect(await read(browser)).toEqual(empty);

    const first = [
      await say(tenant.api, conversation, 'user', 'one'),
      await say(tenant.api, conversation, 'agent', 'two'),
      await say(tenant.api, conversation, 'assistant', 'three'),
    ];
    await say(tenant.api, conversation, 'system', 'a note');
    const seen = await read(browser);
    expect(seen.messages.map(({ id }) => id)).toEqual(first);
    expect(seen.messages[1]).toEqual({
      id: first[1],
      role: 'agent',
      content: 'two',
      createdAt: expect.any(String),
    });
    const nothingNew = await read(browser, `?cursor=${seen.follow}`);
    expect(nothingNew).toEqual(empty);

    const next = await say(tenant.api, conversation, 'agent', 'four');
    for (const cursor of [seen.follow, nothingNew.follow])
      expect((await read(browser, `?cursor=${cursor}`)).messages.map(({ id }) => id)).toEqual([next]);
    expect((await read(browser, '?limit=2')).messages.map(({ id }) => id)).toEqual(first.slice(0, 2));
  });

  it(`reads each of ${BURSTS * BURST} messages once that are recorded in parallel while it polls`, async () => {
    const tenant = await live();
    const { conversation, browser } = await aVisitor(tenant);
    const said: string[] = [];
    const seen: string[] = [];
    let query = '?limit=100';
    const poll = async () => {
      const { messages, follow } = await read(browser, query);
      seen.push(...messages.map(({ id }) => String(id)));
      query = `?limit=100&cursor=${follow}`;
    };
    for (let burst = 0; burst < BURSTS; burst += 1) {
      const messages = Array.from({ length: BURST }, () =>
        say(tenant.api, conversation, 'assistant', 'Hello'),
      );
      // The first of them is committed, the others may still be.
      await Promise.race(messages);
      await poll();
      said.push(...(await Promise.all(messages)));
    }
    await until(
      'the visitor to have read all messages',
      async () => {
        await poll();
        return seen.length >= said.length;
      },
      ...EVERY_SECOND,
    );
    expect(seen.toSorted()).toEqual(said.toSorted());
  });

  it('reads all messages page by page when they exceed the size of an answer, as the API does', async () => {
    const tenant = await live();
    const { conversation, browser } = await aVisitor(tenant);
    const said: string[] = [];
    // Each message takes 200,000 bytes of an answer, and twice as many in a function's response to the
    // gateway.
    for (let count = 0; count < 18; count += 1)
      said.push(String(await say(tenant.api, conversation, 'agent', '"'.repeat(100_000))));

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

    const listed = await tenant.api.all(`/api/v1/conversations/${conversation}/messages`);
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

  it('has a budget of 60 requests a minute, apart from the organization’s', async () => {
    const tenant = await live();
    const { browser } = await aVisitor(tenant);
    const refused = await until('the budget to be used up', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get(MESSAGES)));
      return answers.find(({ status }) => status === 429);
    });
    expect(refused.headers['ratelimit-policy']).toBe('"visitor";q=60;w=60');
    expect(refused.headers['access-control-allow-origin']).toBe('*');
    expect((await tenant.api.get('/api/v1/conversations')).status).toBe(200);
    expect((await read((await aVisitor(tenant)).browser)).messages).toEqual([]);
  });

  it('shares a budget with all visitors of the same organization, but of no other', async () => {
    const [tenant, other] = [await live(), await live()];
    // The budget is too large to use up here, so the test rewrites the window as used up.
    const refused = await until('the budget of all visitors to be used up', async () => {
      await (await aVisitor(tenant)).browser.get(MESSAGES);
      for (const row of await service().rows([`${tenant.orgId}#visitors#`], 'Rates'))
        await service().rewrite({ ...row, item: { ...row.item, used: 1_000_000 } });
      const answer = await (await aVisitor(tenant)).browser.get(MESSAGES);
      return answer.status === 429 && answer;
    });
    expect(refused.headers['ratelimit-policy']).toMatch(/^"visitors";q=\d+;w=60$/);
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d?$/);
    expect((await tenant.api.get('/api/v1/conversations')).status).toBe(200);
    expect((await (await aVisitor(other)).browser.get(MESSAGES)).status).toBe(200);
  });

  it('gets a token only for conversations on a web widget', async () => {
    const { api } = await live();
    for (const channelId of ['web', (await anHttpChannel(api, () => ({ status: 200 }))).id]) {
      const answer = await api.post(
        `/api/v1/conversations/${await aConversation(api, channelId)}/visitor-token`,
      );
      expect([answer.status, answer.body.error?.type]).toEqual([409, 'CONFLICT']);
    }
  });

  it('of a sandbox sees no messages, and is refused after a reset', async () => {
    const owner = await live();
    const sandbox = keep(await aSandbox(service(), owner));
    const { conversation, browser } = await aVisitor(sandbox);
    await say(sandbox.api, conversation, 'agent', 'Hello');
    const empty = { messages: [], next: null, follow: expect.any(String) };
    expect(await read(browser)).toEqual(empty);

    expect((await owner.admin.post('/api/settings/sandbox/reset')).status).toBe(200);
    expect((await browser.get(MESSAGES)).status).toBe(401);
    expect((await aVisitor(sandbox)).channelId).toMatch(/^chn_/);
  });
});
