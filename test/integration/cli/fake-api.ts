import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { freePort } from 'aws-local/engines/free-port.ts';
import { Webhook } from 'standardwebhooks';

/** A registered endpoint of the fake. */
export interface FakeEndpoint {
  id: string;
  url: string;
  events: string[];
  secret: string;
}

/** The part of the public API that the console calls, over HTTP on this machine. */
export interface FakeApi {
  url: string;
  key: string;
  /** Method and path of every call. */
  calls: string[];
  endpoints: Map<string, FakeEndpoint>;
  /**
   * Signs and posts like the service.
   * @returns the status, or undefined when the connection broke
   */
  deliver(endpoint: FakeEndpoint, delivery: { id: string; attempt: number; data: object }): Promise<number>;
  stop(): Promise<void>;
}

/** @param options.ca PEM file that deliveries trust, read when they are sent */
export async function startFakeApi(options: { ca: () => string; port?: number }): Promise<FakeApi> {
  const key = 'ck_live_fake';
  const sandboxKey = 'ck_sandbox_fake';
  const calls: string[] = [];
  const endpoints = new Map<string, FakeEndpoint>();
  let created = 0;

  const deliver: FakeApi['deliver'] = async (endpoint, { id, attempt, data }) => {
    const body = JSON.stringify({ type: 'conversation.created', schemaVersion: 1, orgId: 'org_fake', data });
    const now = new Date();
    const eventId = id.replace('dlv_', 'evt_fake_');
    return post(endpoint.url, options.ca(), body, {
      'content-type': 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(endpoint.secret).sign(eventId, now, body),
      'webhook-delivery-id': id,
      'webhook-attempt': String(attempt),
    });
  };

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: path = '' } = incoming;
    const body = await text(incoming);
    const call = `${method} ${path}`;
    calls.push(call);
    const send = (status: number, data?: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_fake' });
      response.end(data === undefined ? undefined : JSON.stringify(data));
    };
    const bearer = incoming.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (call === 'POST /api/settings/sandbox/provision' && bearer.startsWith('token-of-')) {
      const { name, scopes } = JSON.parse(body);
      const made = { id: 'key_1', environment: 'sandbox', name, scopes, secretOnce: sandboxKey };
      const data = { sandboxOrganizationId: 'org_sandbox', provisioned: true, key: made };
      send(201, { success: true, data });
    } else if (![key, sandboxKey].includes(bearer)) {
      send(401, { error: { type: 'AUTHENTICATION_ERROR', message: 'no', requestId: 'req_fake' } });
    } else if (call === 'GET /api/v1/webhooks') {
      send(200, { success: true, data: [], nextCursor: null });
    } else if (call === 'POST /api/v1/webhooks') {
      created += 1;
      const endpoint = {
        id: `whk_${created}`,
        secret: 'whsec_c2VjcmV0IG9mIHRoZSBmYWtl',
        ...JSON.parse(body),
      };
      endpoints.set(endpoint.id, endpoint);
      send(201, { success: true, data: endpoint });
    } else if (call === 'POST /api/v1/conversations') {
      created += 1;
      const id = `cnv_${created}`;
      send(201, { success: true, data: { id } });
      for (const endpoint of endpoints.values())
        await deliver(endpoint, { id: `dlv_${created}`, attempt: 1, data: { conversationId: id } });
    } else if (method === 'PATCH') {
      const endpoint = endpoints.get(path.split('/').at(-1) ?? '');
      if (endpoint === undefined)
        send(404, { error: { type: 'NOT_FOUND', message: 'no', requestId: 'req_fake' } });
      else
        send(200, {
          success: true,
          data: { ...Object.assign(endpoint, JSON.parse(body)), status: 'active' },
        });
    } else if (method === 'DELETE') {
      endpoints.delete(path.split('/').at(-1) ?? '');
      send(204);
    } else {
      send(200, { success: true, data: [{ id: 'dlv_1', status: 'retrying', lastError: 'fake' }] });
    }
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: Error) => response.destroy(error));
  });
  // A port that no other process takes while the API is stopped.
  const port = options.port ?? (await freePort());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://localhost:${port}`, key, calls, endpoints, deliver, stop };
}

/**
 * Posts over TLS that trusts `ca`.
 * @returns the status
 */
export async function post(
  url: string,
  ca: string,
  body: string | Buffer,
  headers: Record<string, string>,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const outgoing = request(url, { method: 'POST', ca, headers, agent: false });
  outgoing.on('response', (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}
