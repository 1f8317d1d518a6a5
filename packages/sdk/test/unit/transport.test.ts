import { describe, expect, it } from 'vitest';
import packageJson from '../../../../package.json' with { type: 'json' };
import { ApiError, ConnectionError, createClient, isApiError, TimeoutError } from '../../src/index.ts';
import { userAgent } from '../../src/user-agent.ts';
import { createWidget } from '../../src/widget.ts';

interface Sent {
  url: URL;
  method: string;
  headers: Headers;
  body: string | undefined;
  signal: AbortSignal | null | undefined;
}
type Respond = (request: Sent, tried: number) => Response | Promise<Response>;

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(body === undefined ? null : JSON.stringify(body), { status, headers });
const refusal = (status: number, type: string, headers: Record<string, string> = {}) =>
  json(status, { error: { type, message: 'No.', requestId: 'req_1', details: [] } }, headers);
const created = () => json(201, { success: true, data: { id: 'cnv_1' } });

/** A client of a pretended service, which waits in no time. */
function aClient(
  respond: Respond,
  options: { maxRetries?: number; timeoutMs?: number; debug?: (line: string) => void } = {},
) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const notices: unknown[] = [];
  const settings = {
    baseUrl: 'https://api.example.com',
    fetch: async (input: unknown, init: RequestInit = {}) => {
      const request = {
        url: new URL(String(input)),
        method: init.method ?? 'GET',
        headers: new Headers(init.headers),
        body: init.body === undefined ? undefined : String(init.body),
        signal: init.signal,
      };
      sent.push(request);
      init.signal?.throwIfAborted();
      return respond(request, sent.length - 1);
    },
    sleep: async (ms: number, signal: AbortSignal | undefined) => {
      signal?.throwIfAborted();
      waits.push(ms);
    },
    onDeprecation: (notice: unknown) => void notices.push(notice),
    ...options,
  };
  return { client: createClient({ ...settings, apiKey: 'ck_live_1' }), settings, sent, waits, notices };
}

const CONVERSATION = { channelId: 'chn_web', externalUserId: 'ada' };

describe('a client of the API', () => {
  it('sends a request with the key, and a JSON body', async () => {
    const { client, sent } = aClient(created);
    expect(await client.conversations.create(CONVERSATION)).toEqual({ id: 'cnv_1' });
    const [{ url, method, headers, body } = sent[0] as Sent] = sent;
    expect([method, String(url)]).toEqual(['POST', 'https://api.example.com/api/v1/conversations']);
    expect(headers.get('authorization')).toBe('Bearer ck_live_1');
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(body ?? '')).toEqual(CONVERSATION);
  });

  it('escapes identifiers, and refuses empty ones, which would be another path', async () => {
    const { client, sent } = aClient(() => json(200, { success: true, data: {} }));
    await client.conversations.get('../webhooks?x');
    expect(sent[0]?.url.pathname).toBe('/api/v1/conversations/..%2Fwebhooks%3Fx');
    await expect(client.conversations.get('')).rejects.toThrow('id must not be empty');
  });

  it('retries a POST with the idempotency key of its first try, and waits as long as Retry-After says', async () => {
    const { client, sent, waits } = aClient((_, tried) => {
      if (tried === 0) return refusal(429, 'RATE_LIMITED', { 'retry-after': '7' });
      if (tried === 1) throw new TypeError('fetch failed');
      return created();
    });
    await client.conversations.create(CONVERSATION, { idempotencyKey: 'mine' });
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['mine', 'mine', 'mine']);
    expect(waits[0]).toBe(7000);
    expect(waits[1]).toBeLessThanOrEqual(1000);
  });

  it('reads a date in Retry-After', async () => {
    const { client, waits } = aClient((_, tried) =>
      tried === 0
        ? refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': new Date(Date.now() + 20_000).toUTCString() })
        : created(),
    );
    await client.conversations.create(CONVERSATION);
    expect(waits[0]).toBeGreaterThan(15_000);
    expect(waits[0]).toBeLessThanOrEqual(20_000);
  });

  it('does not wait longer than its limit, and does not repeat what cannot succeed', async () => {
    const late = aClient(() => refusal(429, 'RATE_LIMITED', { 'retry-after': '61' }));
    await expect(late.client.conversations.get('cnv_1')).rejects.toMatchObject({ retryAfterSeconds: 61 });
    const wrong = aClient(() => refusal(400, 'VALIDATION_ERROR'));
    await expect(wrong.client.conversations.get('cnv_1')).rejects.toBeInstanceOf(ApiError);
    expect([late.sent.length, wrong.sent.length]).toEqual([1, 1]);
  });

  it('waits longer after each try, and gives up after the last one', async () => {
    const { client, sent, waits } = aClient(
      () => {
        throw new TypeError('fetch failed');
      },
      { maxRetries: 9 },
    );
    await expect(client.conversations.get('cnv_1')).rejects.toBeInstanceOf(ConnectionError);
    expect(sent).toHaveLength(10);
    for (const [tried, ms] of waits.entries())
      expect(ms).toBeLessThanOrEqual(Math.min(8000, 500 * 2 ** tried));
  });

  it('tells errors apart by their type, with the faults of the request', async () => {
    const details = [{ field: 'url', message: 'is required' }];
    const { client } = aClient(() =>
      json(400, {
        error: { type: 'VALIDATION_ERROR', message: 'url is required.', requestId: 'r', details },
      }),
    );
    const error: unknown = await client.endpoints
      .list()
      .page()
      .catch((caught) => caught);
    expect(isApiError(error, 'VALIDATION_ERROR') && [error.requestId, error.details]).toEqual(['r', details]);
    expect(isApiError(error, 'NOT_FOUND')).toBe(false);
    expect(isApiError(new Error())).toBe(false);
  });

  it('ends a try without a response, and a call that is aborted', async () => {
    const hanging = ({ signal }: Sent) =>
      new Promise<Response>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const { client, sent } = aClient(hanging, { timeoutMs: 5, maxRetries: 1 });
    await expect(client.conversations.get('cnv_1')).rejects.toBeInstanceOf(TimeoutError);
    expect(sent).toHaveLength(2);
    const reason = new Error('the user left');
    const signal = AbortSignal.abort(reason);
    await expect(client.conversations.get('cnv_1', { signal })).rejects.toBe(reason);
  });

  it('says once that an operation is deprecated', async () => {
    const { client, notices } = aClient(() =>
      json(
        200,
        { success: true, data: {} },
        { deprecation: '@1767225600', sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' },
      ),
    );
    await client.conversations.get('cnv_1');
    await client.conversations.get('cnv_2');
    expect(notices).toEqual([
      { operation: 'readConversation', deprecation: '@1767225600', sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' },
    ]);
  });

  it('sends no key unencrypted, nor from a browser', () => {
    const options = { apiKey: 'ck_live_1', baseUrl: 'http://api.example.com' };
    expect(() => createClient(options)).toThrow('must be an https URL');
    for (const baseUrl of ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'])
      expect(createClient({ ...options, baseUrl })).toBeDefined();
    Object.assign(globalThis, { document: {} });
    try {
      expect(() => createClient({ ...options, baseUrl: 'https://api.example.com' })).toThrow('browser');
    } finally {
      Reflect.deleteProperty(globalThis, 'document');
    }
  });

  it('names its version and the runtime, but not in a browser, which has a name of its own', async () => {
    const { client, sent, settings } = aClient(() =>
      json(200, { success: true, data: [], nextCursor: null }),
    );
    await client.conversations.list().page();
    expect(sent[0]?.headers.get('user-agent')).toBe(
      `conversation-service-sdk/${packageJson.version} Node.js/24`,
    );
    expect(userAgent({ process: { versions: { node: '20.20.2' } } })).toMatch(/ Node\.js\/20\.20\.2$/);
    Object.assign(globalThis, { document: {} });
    await createWidget({ ...settings, visitorToken: 'cvt_1' })
      .messages()
      .page();
    Reflect.deleteProperty(globalThis, 'document');
    expect(sent[1]?.headers.has('user-agent')).toBe(false);
  });

  it('returns status, headers and request of a response where they are asked for', async () => {
    const { client } = aClient(({ method, url }) => {
      const headers = { 'request-id': 'req_7', ratelimit: '"default";r=599' };
      if (method === 'DELETE') return new Response(null, { status: 204, headers });
      if (url.pathname.endsWith('cnv_2')) return refusal(404, 'NOT_FOUND');
      return json(
        200,
        { success: true, data: method === 'GET' ? ['a'] : { id: 'b' }, nextCursor: null },
        headers,
      );
    });
    const page = await client.conversations.list().page().withResponse();
    expect(page).toMatchObject({ status: 200, requestId: 'req_7', data: { data: ['a'], nextCursor: null } });
    expect(page.headers.get('ratelimit')).toBe('"default";r=599');
    const made = await client.conversations.create(CONVERSATION).withResponse();
    expect(made).toMatchObject({ status: 200, requestId: 'req_7', data: { id: 'b' } });
    const deleted = await client.endpoints.delete('whk_1').withResponse();
    expect(deleted).toMatchObject({ status: 204, requestId: 'req_7', data: undefined });
    await expect(client.conversations.get('cnv_2').withResponse()).rejects.toBeInstanceOf(ApiError);
  });

  it('has tries of their own for a call, and says of each what happened, and no secret', async () => {
    const lines: string[] = [];
    const { client, sent } = aClient(
      (_, tried) => {
        if (tried === 0) throw new TypeError('fetch failed');
        return refusal(503, 'SERVICE_UNAVAILABLE', { 'request-id': 'req_1', 'retry-after': '1' });
      },
      { debug: (line) => void lines.push(line) },
    );
    const secret = 'about a person';
    const call = client.tickets.create({ reason: secret }, { maxRetries: 1 });
    await expect(call).rejects.toMatchObject({ status: 503 });
    expect(sent).toHaveLength(2);
    expect(lines.map((line) => line.replace(/\d+ ms/, '1 ms'))).toEqual([
      'createTicket POST /api/v1/tickets: ConnectionError after 1 ms, try 1',
      'createTicket POST /api/v1/tickets: 503, request req_1 after 1 ms, try 2',
    ]);
    await client.conversations
      .list({ limit: 1 }, { maxRetries: 0 })
      .page()
      .catch(() => undefined);
    expect(sent).toHaveLength(3);
    expect(lines.join()).not.toMatch(/ck_live|limit|person/);
  });

  it('reads a list page by page, as far as it is asked for', async () => {
    const pages = [['a', 'b'], [], ['c'], ['d']];
    const { client, sent, settings } = aClient(({ url }) => {
      const at = Number(url.searchParams.get('cursor') ?? 0);
      return json(200, { data: pages[at], nextCursor: at + 1 < pages.length ? String(at + 1) : null });
    });
    expect(await client.conversations.list({ limit: 2 }).take(100)).toEqual(['a', 'b', 'c', 'd']);
    expect(sent.map(({ url }) => url.search)).toEqual(
      ['', '&cursor=1', '&cursor=2', '&cursor=3'].map((rest) => `?limit=2${rest}`),
    );
    expect(await client.conversations.list().take(3)).toEqual(['a', 'b', 'c']);
    expect(await client.conversations.list().take(0)).toEqual([]);
    expect(await client.conversations.list().page('3')).toEqual({ data: ['d'], nextCursor: null });
    const widget = createWidget({ ...settings, visitorToken: 'cvt_1' });
    expect(await widget.messages().take(1)).toEqual(['a']);
    expect(sent.at(-1)?.headers.get('authorization')).toBe('Bearer cvt_1');
  });

  it('follows the event log without an end, from a stored cursor on', async () => {
    const { client } = aClient(({ url }) => {
      const at = Number(url.searchParams.get('cursor') ?? 0);
      const next = String(at + 1);
      const isEnd = at % 3 === 0;
      const data = at % 2 === 0 ? [`e${at}`] : [];
      return json(200, { data, nextCursor: isEnd ? null : next, followCursor: next });
    });
    const seen: unknown[] = [];
    for await (const batch of client.events.follow(
      { type: ['ticket.created'] },
      { cursor: '3', pollMs: 0 },
    )) {
      seen.push(batch);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual([
      { data: ['e4'], followCursor: '5' },
      { data: ['e6'], followCursor: '7' },
    ]);
  });
});
