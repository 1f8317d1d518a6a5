import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { freePort } from 'aws-local/engines/free-port.ts';
import { Webhook } from 'standardwebhooks';

interface FakeEndpoint {
  id: string;
  secret: string;
  createdAt: string;
}

interface FakeDelivery {
  id: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  status: string;
  body: string | undefined;
}

/** The part of a sandbox's public API that forwarding reads, over HTTP on this machine. */
export interface FakeSandbox {
  url: string;
  key: string;
  calls: { path: string; at: number }[];
  /** Sets the rate limit headers of the following answers. */
  tellBudget(budget: { remaining: number; seconds: number }): void;
  /** Refuses the next calls with a status; or all of them. */
  refuse(status: number, times?: number): void;
  /** Invalidates all cursors and deletes all deliveries. */
  reset(): void;
  register(): FakeEndpoint;
  remove(endpoint: FakeEndpoint): void;
  /**
   * Adds a delivery of a new event.
   * @param event.ago milliseconds since it happened
   * @param event.isAttempted whether the delivery has a request already
   */
  happens(endpoint: FakeEndpoint, event?: { ago?: number; isAttempted?: boolean }): FakeDelivery;
  attempt(delivery: FakeDelivery): void;
  /** Refuses connections until it is started again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const PAGE = 4;
const URL_OF_NOBODY = 'https://example.com/hooks?simulate=503';

/** A sandbox with short pages, regardless of the requested limit. */
export async function startFakeSandbox(): Promise<FakeSandbox> {
  const key = 'ck_sandbox_fake';
  const calls: FakeSandbox['calls'] = [];
  const endpoints: FakeEndpoint[] = [];
  let deliveries: FakeDelivery[] = [];
  let generation = 1;
  let refusals: number[] = [];
  let refusesAll: number | undefined;
  let budget: { remaining: number; seconds: number } | undefined;
  let count = 0;

  const bodyOf = (n: number) => `{"type":"message.received", "text":"Grüße ☃ \\u2603", "n":${n}}`;

  function listed({ body, ...delivery }: FakeDelivery) {
    if (body === undefined) return delivery;
    const { secret } = endpoints.find(({ id }) => id === delivery.webhookId) ?? { secret: '' };
    const now = new Date();
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      host: 'example.com',
      'webhook-delivery-id': delivery.id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(delivery.eventId, now, body),
      'webhook-id': delivery.eventId,
      'webhook-attempt': '1',
    };
    return { ...delivery, request: { method: 'POST', url: URL_OF_NOBODY, headers, body } };
  }

  function reply(path: string, bearer: string | undefined): { status: number; body: object } {
    const url = new URL(path, 'http://localhost');
    const refusal = refusals.shift() ?? refusesAll;
    if (bearer !== `Bearer ${key}`) return failure(401, 'AUTHENTICATION_ERROR');
    if (refusal !== undefined) return failure(refusal, 'FAKE');
    if (url.pathname === '/api/v1/webhooks') return listing(endpoints, null);
    const [, id] = /^\/api\/v1\/webhooks\/(\w+)\/deliveries$/.exec(url.pathname) ?? [];
    if (!endpoints.some((endpoint) => endpoint.id === id)) return failure(404, 'NOT_FOUND');
    const [of = String(generation), after = ''] = url.searchParams.get('cursor')?.split('/') ?? [];
    if (of !== String(generation)) return failure(400, 'VALIDATION_ERROR');
    const shown = deliveries
      .filter(({ webhookId }) => webhookId === id)
      .filter((delivery) => after === '' || delivery.id < after)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    const page = shown.slice(0, PAGE);
    const signs = url.searchParams.get('include') === 'request';
    const data = signs ? page.map(listed) : page.map(({ body: _, ...delivery }) => delivery);
    return listing(data, shown.length > PAGE ? `${generation}/${page.at(-1)?.id}` : null);
  }

  function answer(incoming: IncomingMessage, response: ServerResponse): void {
    calls.push({ path: incoming.url ?? '', at: performance.now() });
    const { status, body } = reply(incoming.url ?? '', incoming.headers.authorization);
    response.writeHead(status, {
      'content-type': 'application/json',
      'request-id': 'req_fake',
      ...(status === 429 ? { 'retry-after': '1' } : {}),
      ...(budget === undefined ? {} : { ratelimit: `"sandbox";r=${budget.remaining};t=${budget.seconds}` }),
    });
    response.end(JSON.stringify(body));
  }

  const server = createServer(answer);
  // A port that no other process takes while the sandbox is stopped.
  const port = await freePort();
  const start = async () => {
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  };
  await start();
  const attempt = (delivery: FakeDelivery) => {
    count += 1;
    Object.assign(delivery, { body: bodyOf(count), status: 'succeeded' });
  };
  return {
    url: `http://localhost:${port}`,
    key,
    calls,
    tellBudget: (told) => {
      budget = told;
    },
    refuse: (status, times) => {
      if (times === undefined) refusesAll = status;
      else refusals = Array.from({ length: times }, () => status);
    },
    reset: () => {
      generation += 1;
      deliveries = [];
    },
    register: () => {
      const endpoint = {
        id: `whk_${endpoints.length + 1}`,
        secret: `whsec_${randomBytes(32).toString('base64')}`,
        createdAt: new Date().toISOString(),
      };
      endpoints.push(endpoint);
      return endpoint;
    },
    remove: (endpoint) => void endpoints.splice(endpoints.indexOf(endpoint), 1),
    happens: (endpoint, { ago = 0, isAttempted = true } = {}) => {
      const time = (Date.now() - ago).toString(16).padStart(12, '0');
      const delivery: FakeDelivery = {
        // In the order of creation even within a millisecond.
        id: `dlv_${time}${deliveries.length.toString(16).padStart(8, '0')}${randomBytes(6).toString('hex')}`,
        webhookId: endpoint.id,
        eventId: 'evt_fake',
        eventType: 'message.received',
        status: 'pending',
        body: undefined,
      };
      deliveries.push(delivery);
      if (isAttempted) attempt(delivery);
      return delivery;
    },
    attempt,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    start,
  };
}

const failure = (status: number, type: string) => ({
  status,
  body: { error: { type, message: 'fake', requestId: 'req_fake' } },
});

const listing = (data: object[], nextCursor: string | null) => ({
  status: 200,
  body: { success: true, data, nextCursor },
});
