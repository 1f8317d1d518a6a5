import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Id of a resource: the prefix, and the digit 32 times. */
export const idOf = (prefix: string, digit: number | string): string =>
  `${prefix}_${String(digit).repeat(32)}`;

const AT = '2026-11-23T14:26:39.873Z';

export const anEvent = (digit: number, data: object = { conversationId: idOf('cnv', digit) }) => ({
  id: idOf('evt', digit),
  type: 'conversation.created',
  schemaVersion: 1,
  createdAt: AT,
  data,
});

export const anEndpoint = (digit: number, changed: object = {}) => ({
  id: idOf('whk', digit),
  url: `https://receiver-${digit}.example/hooks`,
  events: ['conversation.created'],
  filter: null,
  description: null,
  maxPerSecond: null,
  status: 'active',
  consecutiveFailures: 0,
  failing: null,
  pausedAt: null,
  disabledAt: null,
  disabledReason: null,
  predecessor: null,
  createdAt: AT,
  ...changed,
});

export const aDelivery = (digit: number, changed: object = {}) => ({
  id: idOf('dlv', digit),
  webhookId: idOf('whk', digit),
  channelId: null,
  url: `https://receiver-${digit}.example/hooks`,
  receiverStatus: 'active',
  eventId: idOf('evt', 1),
  eventType: 'conversation.created',
  status: 'succeeded',
  attempts: 1,
  nextRetryAt: null,
  nextRetryReason: null,
  terminalAt: AT,
  terminalReason: null,
  lastError: null,
  lastErrorCode: null,
  lastResponseStatus: 200,
  redeliveryOf: null,
  createdAt: AT,
  attemptLog: [],
  ...changed,
});

export const aConversation = (digit: number, changed: object = {}) => ({
  id: idOf('cnv', digit),
  channelId: 'web',
  externalUserId: 'ada',
  status: 'open',
  resolvedAt: null,
  resolvedBy: null,
  createdAt: AT,
  ...changed,
});

const COUNTS = { owed: 3, pending: 0, succeeded: 2, exhausted: 1, skipped: 0, duplicates: 0 };

const aJob = (webhookId: string, body: unknown, found: number) => ({
  id: idOf('rdj', 1),
  webhookId,
  status: 'done',
  reason: null,
  what: 'failed',
  to: AT,
  ...Object(body),
  redelivered: found,
  eventTypes: found === 0 ? [] : [{ type: 'conversation.created', count: found }],
});

/** A fake of the API with an organization's events, endpoints and deliveries. */
export interface FakeOrganization {
  url: string;
  key: string;
  /** Method, path and body of every call. */
  calls: { call: string; body: unknown }[];
  /** In the order in which they happened. */
  events: ReturnType<typeof anEvent>[];
  endpoints: ReturnType<typeof anEndpoint>[];
  deliveries: ReturnType<typeof aDelivery>[];
  conversations: ReturnType<typeof aConversation>[];
  /** Of all conversations. */
  messages: { id: string; content: string }[];
  /** Why endpoints got no attempt of any event. */
  undelivered: object[];
  /** Events that a redelivery job finds. */
  found: number;
  scopes: string[];
  /** Answers the next requests with this status. */
  fail(status: number, times: number): void;
  stop(): Promise<void>;
}

type Answer = [status: number, data?: unknown, more?: object];

export async function startFakeOrganization(): Promise<FakeOrganization> {
  const failures: number[] = [];
  let created = 0;
  const make = (prefix: string): Answer => {
    created += 1;
    return [201, { id: `${prefix}_${created}` }];
  };
  const missing: Answer = [404, { type: 'NOT_FOUND', message: 'No such resource.' }];
  const find = <T extends { id: string }>(all: readonly T[], id: string | undefined): Answer => {
    const entry = all.find((each) => each.id === id);
    return entry === undefined ? missing : [200, entry];
  };
  const resent = (webhookId: string, id: string): Answer =>
    find(organization.deliveries, id)[0] === 404
      ? missing
      : [202, aDelivery(9, { id: idOf('dlv', 'a'), webhookId, status: 'pending', redeliveryOf: id })];

  function listEvents(query: URLSearchParams): Answer {
    const { events } = organization;
    if (query.get('order') !== 'asc')
      return [200, events.toReversed().slice(0, Number(query.get('limit'))), { nextCursor: null }];
    const start = Number(
      query.get('cursor') ?? (query.has('from') ? events.findIndex(isFrom(query.get('from'))) : 0),
    );
    const begin = start < 0 ? events.length : start;
    return [200, events.slice(begin), { nextCursor: null, followCursor: String(events.length) }];
  }
  const isFrom = (from: string | null) => (event: { createdAt: string }) => event.createdAt >= (from ?? '');

  const routes: [
    pattern: RegExp,
    scope: string,
    answer: (match: RegExpExecArray, query: URLSearchParams, body: unknown) => Answer,
  ][] = [
    [/^GET \/events$/, 'read:webhooks', (_, query) => listEvents(query)],
    [
      /^GET \/events\/(\w+)$/,
      'read:webhooks',
      ([, id]) => {
        const [status, event] = find(organization.events, id);
        if (status !== 200) return missing;
        const deliveries = organization.deliveries.filter(({ eventId }) => eventId === id);
        return [
          200,
          {
            ...Object(event),
            payload: JSON.stringify(event),
            deliveries,
            undelivered: organization.undelivered,
          },
        ];
      },
    ],
    [/^GET \/webhooks$/, 'read:webhooks', () => [200, organization.endpoints, { nextCursor: null }]],
    [
      /^POST \/webhooks$/,
      'write:webhooks',
      (_, _query, body) => {
        const endpoint = anEndpoint(1, { ...Object(body), createdAt: new Date(0).toISOString() });
        organization.endpoints.push(endpoint);
        return [201, { ...endpoint, secret: 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0' }];
      },
    ],
    [
      /^DELETE \/webhooks\/(\w+)$/,
      'write:webhooks',
      ([, id]) => {
        organization.endpoints = organization.endpoints.filter((endpoint) => endpoint.id !== id);
        return [204];
      },
    ],
    [/^GET \/webhooks\/(\w+)$/, 'read:webhooks', ([, id]) => find(organization.endpoints, id)],
    [
      /^PATCH \/webhooks\/(\w+)$/,
      'write:webhooks',
      ([, id = ''], _, body) => {
        const { paused } = Object(body);
        const [status, endpoint] = find(organization.endpoints, id);
        const changed = paused ? { status: 'paused', pausedAt: AT } : {};
        const redelivery = paused ? null : aJob(id, {}, 0);
        return [status, { ...Object(endpoint), ...changed, redelivery }];
      },
    ],
    [
      /^POST \/webhooks\/(\w+)\/redeliveries$/,
      'write:webhooks',
      ([, id = ''], _, body) => [202, aJob(id, body, organization.found)],
    ],
    [
      /^GET \/webhooks\/(\w+)\/stats$/,
      'read:webhooks',
      () => [200, { totals: COUNTS, latency: null, hours: [] }],
    ],
    [
      /^GET \/webhooks\/(\w+)\/deliveries$/,
      'read:webhooks',
      ([, id]) => [
        200,
        organization.deliveries.filter(({ webhookId }) => webhookId === id),
        { nextCursor: null },
      ],
    ],
    [
      /^GET \/webhooks\/(\w+)\/deliveries\/(\w+)$/,
      'read:webhooks',
      ([, webhook, id]) =>
        find(
          organization.deliveries.filter(({ webhookId }) => webhookId === webhook),
          id,
        ),
    ],
    [
      /^POST \/webhooks\/(\w+)\/deliveries\/(\w+)\/(?:redeliver|retry)$/,
      'write:webhooks',
      ([, webhook = '', id = '']) => resent(webhook, id),
    ],
    [
      /^POST \/webhooks\/(\w+)\/test$/,
      'write:webhooks',
      () => [201, { eventId: 'evt_test', deliveryId: 'dlv_test' }],
    ],
    [/^POST \/conversations$/, 'write:conversations', () => make('cnv')],
    [
      /^GET \/conversations$/,
      'read:conversations',
      (_, query) => {
        const user = query.get('externalUserId');
        const { conversations } = organization;
        const found = conversations.filter((each) => user === null || each.externalUserId === user);
        return [200, found, { nextCursor: null }];
      },
    ],
    [/^GET \/conversations\/(\w+)$/, 'read:conversations', ([, id]) => find(organization.conversations, id)],
    [
      /^GET \/conversations\/(\w+)\/messages$/,
      'read:conversations',
      (_, query) => [
        200,
        organization.messages.toReversed().slice(0, Number(query.get('limit') ?? 20)),
        { nextCursor: null },
      ],
    ],
    [
      /^POST \/conversations\/(\w+)\/messages$/,
      'write:conversations',
      ([, id = ''], _, body) => {
        const { conversations, messages } = organization;
        if (conversations.length > 0 && !conversations.some((each) => each.id === id)) return missing;
        const [status, made] = make('msg');
        messages.push({ ...Object(made), conversationId: id, createdAt: AT, ...Object(body) });
        return [status, messages.at(-1)];
      },
    ],
    [/^POST \/conversations\/(\w+)\/resolve$/, 'write:conversations', ([, id]) => [200, { id }]],
    [/^POST \/conversations\/\w+\/handoff$/, 'write:conversations', () => make('esc')],
    [/^POST \/tickets$/, 'write:conversations', () => make('tkt')],
  ];

  function reply(call: string, query: URLSearchParams, bearer: string, body: unknown): Answer {
    const failure = failures.shift();
    if (failure !== undefined) return [failure, { type: 'SERVICE_UNAVAILABLE', message: 'Try again.' }];
    if (bearer !== `Bearer ${organization.key}`)
      return [401, { type: 'AUTHENTICATION_ERROR', message: 'A valid API key is required.' }];
    for (const [pattern, scope, answer] of routes) {
      const match = pattern.exec(call);
      if (match === null) continue;
      return organization.scopes.includes(scope)
        ? answer(match, query, body)
        : [403, { type: 'PERMISSION_DENIED', message: `The API key lacks the scope ${scope}.` }];
    }
    return missing;
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://localhost');
    const call = `${incoming.method} ${pathname.replace('/api/v1', '')}`;
    const sent = await text(incoming);
    const body = sent === '' ? undefined : JSON.parse(sent);
    organization.calls.push({ call, body });
    const [status, data, more] = reply(call, searchParams, incoming.headers.authorization ?? '', body);
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_fake' });
    const failed = { error: { ...Object(data), requestId: 'req_fake' } };
    if (status === 204) return void response.end();
    response.end(JSON.stringify(status >= 400 ? failed : { success: true, data, ...more }));
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const organization: FakeOrganization = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    key: 'ck_sandbox_fake',
    calls: [],
    events: [],
    endpoints: [],
    deliveries: [],
    conversations: [],
    messages: [],
    undelivered: [],
    found: 0,
    scopes: ['read:webhooks', 'write:webhooks', 'read:conversations', 'write:conversations'],
    fail: (status, times) => failures.push(...Array.from({ length: times }, () => status)),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return organization;
}
