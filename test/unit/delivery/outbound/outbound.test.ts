import type { IncomingHttpHeaders } from 'node:http';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it, vi } from 'vitest';
import { exchange } from '../../../../functions/delivery/outbound/exchange.ts';
import { NotPermitted } from '../../../../functions/tenancy/gate.ts';
import { aPermit } from './permit.ts';
import {
  bodyOf,
  certificate,
  fetchFrom,
  httpsReceiver,
  localAgent,
  localClient,
  type OutboundClient,
  postTo,
  rawReceiver,
} from './receivers.ts';

describe('a post', () => {
  it('sends exactly the given bytes and headers to the path and query of the URL', async () => {
    const seen: { method?: string; url?: string; headers: IncomingHttpHeaders; body: string }[] = [];
    const receiver = await httpsReceiver(async (request, response) => {
      const { method, url, headers } = request;
      seen.push({ ...(method && { method }), ...(url && { url }), headers, body: await bodyOf(request) });
      response.writeHead(204).end();
    });

    const result = await localClient().post(
      {
        url: receiver.url('localhost', '/a/b?c=d%20e'),
        headers: { 'content-type': 'application/json', 'webhook-id': 'dlv_1' },
        body: new TextEncoder().encode('{"hello":"wörld"}'),
      },
      await aPermit(),
    );

    expect(result).toMatchObject({ kind: 'answered', status: 204, body: '' });
    expect(seen).toMatchObject([
      {
        method: 'POST',
        url: '/a/b?c=d%20e',
        headers: {
          host: `localhost:${receiver.port}`,
          'content-type': 'application/json',
          'content-length': '18',
          'webhook-id': 'dlv_1',
        },
        body: '{"hello":"wörld"}',
      },
    ]);
  });

  it('reports when the request was written, after its connection is open', async () => {
    const written = vi.fn();
    const { promise: accepted, resolve: accept } = Promise.withResolvers<boolean>();
    const receiver = await httpsReceiver(
      async (_request, response) => {
        await until('the request to be written', () => written.mock.calls.length === 1);
        response.writeHead(204).end();
      },
      {
        ...certificate,
        // Checked in the middle of the handshake.
        SNICallback: (_name, callback) => void accepted.then(() => callback(null)),
      },
    );
    const request = { url: receiver.url('localhost'), headers: {}, body: new Uint8Array(10) };
    const sent = localClient().post(request, await aPermit(), written);
    await until('the connection', () => receiver.open.size === 1);
    expect(written).not.toHaveBeenCalled();
    accept(true);
    expect(await sent).toMatchObject({ kind: 'answered', status: 204 });
    expect(written).toHaveBeenCalledOnce();
  });

  it.each(['/p?', '/p', '/p?a=1&b', '/%2f//x?', '/'])(
    'goes to exactly the target of its URL: %s',
    async (target) => {
      const seen: (string | undefined)[] = [];
      const receiver = await httpsReceiver((request, response) => {
        seen.push(request.url);
        response.writeHead(204).end();
      });
      await postTo(localClient(), receiver.url('localhost', target));
      expect(seen).toEqual([target]);
    },
  );

  it.each([200, 201, 202, 204, 299])('returns %i without the body', async (status) => {
    const receiver = await httpsReceiver((_request, response) => {
      response.writeHead(status).end(status === 204 ? undefined : 'thanks');
    });
    expect(await postTo(localClient(), receiver.url())).toMatchObject({ kind: 'answered', status, body: '' });
  });

  it.each([300, 304, 400, 401, 404, 410, 429, 500, 503, 599])(
    'returns %i with the beginning of the body',
    async (status) => {
      const receiver = await httpsReceiver((_request, response) => {
        response.writeHead(status).end(status === 304 ? undefined : 'no, thanks');
      });
      // No header of the answer is kept.
      expect(await postTo(localClient(), receiver.url())).toEqual({
        kind: 'answered',
        status,
        body: status === 304 ? '' : 'no, thanks',
        durationMs: expect.any(Number),
      });
    },
  );

  it('returns a success although its body never ends', async () => {
    const receiver = await httpsReceiver((_request, response) => {
      response.writeHead(200).write('never ');
    });
    expect(await postTo(localClient(), receiver.url())).toMatchObject({ kind: 'answered', status: 200 });
    await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
  });

  it('returns a success when the server offers another protocol beside it', async () => {
    const receiver = await httpsReceiver((_request, response) => {
      response.writeHead(200, { connection: 'upgrade', upgrade: 'h2,h2c' }).end('ok');
    });
    expect(await postTo(localClient(), receiver.url())).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('ignores interim responses before the final one', async () => {
    const receiver = await httpsReceiver((_request, response) => {
      response.writeContinue();
      response.writeProcessing();
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(200).end();
    });
    expect(await postTo(localClient(), receiver.url())).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('waits for an answer for longer than the idle timeout of connections', async () => {
    const receiver = await httpsReceiver((_request, response) => {
      setTimeout(() => response.writeHead(200).end(), 1300);
    });
    expect(await postTo(localClient(), receiver.url())).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('measures the time until the headers with the given clock', async () => {
    let time = 1_000;
    const receiver = await httpsReceiver((_request, response) => {
      time += 250;
      response.writeHead(500).end('no');
    });
    expect(await postTo(localClient({ now: () => time }), receiver.url())).toMatchObject({ durationMs: 250 });
  });

  it('throws for a header that HTTP cannot carry, and connects to nothing', async () => {
    const receiver = await httpsReceiver((_request, response) => response.end());
    const headers = { 'webhook-id': 'dlv_1\r\nx-injected: yes' };
    const request = { url: receiver.url(), headers, body: new Uint8Array() };
    await expect(localClient().post(request, await aPermit())).rejects.toThrow(TypeError);
    expect(receiver.connections).toBe(0);
  });

  it('fails when the client is closed meanwhile', async () => {
    const client = localClient();
    const receiver = await httpsReceiver(() => client.close());
    expect(await postTo(client, receiver.url())).toMatchObject({
      kind: 'failed',
      error: 'connection closed before the response',
    });
  });
});

describe('the stored body of a refusal', () => {
  async function excerptOf(body: string | Uint8Array, headers: Record<string, string> = {}): Promise<string> {
    const receiver = await httpsReceiver((_request, response) => {
      response.writeHead(500, headers).end(body);
    });
    const result = await postTo(localClient(), receiver.url());
    if (result.kind !== 'answered') throw new Error(result.error);
    return result.body;
  }

  it('is the first KiB', async () => {
    expect(await excerptOf('a'.repeat(5000))).toBe('a'.repeat(1024));
    expect(await excerptOf('a'.repeat(1024))).toBe('a'.repeat(1024));
  });

  it('ends with a complete character', async () => {
    expect(await excerptOf(`a${'ä'.repeat(1000)}`)).toBe(`a${'ä'.repeat(511)}`);
    expect(await excerptOf(`a${'🙂'.repeat(1000)}`)).toBe(`a${'🙂'.repeat(255)}`);
  });

  it('is text of at most 1 KiB for any bytes', async () => {
    const text = await excerptOf(new Uint8Array(4096).fill(0xff));
    expect(text).toMatch(/^\ufffd+$/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024);
  });

  it('is what arrived, when the connection breaks off', async () => {
    const receiver = await httpsReceiver((_request, response) => {
      response.writeHead(500, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    });
    expect(await postTo(localClient(), receiver.url())).toMatchObject({
      kind: 'answered',
      status: 500,
      body: 'half',
    });
  });
});

/** A client that records the names that it looks up, and a receiver that it could reach. */
async function aClient() {
  const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
  const resolved: string[] = [];
  const client = localClient({
    resolve: async (host) => {
      resolved.push(host);
      return ['127.0.0.1'];
    },
  });
  const request = { url: receiver.url('receiver.example.com'), headers: {}, body: new Uint8Array() };
  return { client, request, receiver, resolved };
}

const forgeries: [string, (permit: object) => unknown][] = [
  ['none', () => undefined],
  ['a made-up one', () => ({ orgId: 'org_1' })],
  ['a copy of a true one', (permit) => ({ ...permit })],
  ['something derived from a true one', (permit) => Object.create(permit)],
  ['a true one behind a proxy', (permit) => new Proxy(permit, {})],
];

/** A call without the compiler's checks. */
const call = (client: OutboundClient, method: 'post' | 'fetch', ...parameters: unknown[]): Promise<unknown> =>
  Reflect.apply(client[method], client, parameters);

describe.each(['post', 'fetch'] as const)('the outbound client’s %s', (method) => {
  it.each(forgeries)('sends nothing and looks up no name with a permit that is %s', async (_what, forge) => {
    const { client, request, receiver, resolved } = await aClient();

    const calling = call(client, method, { ...request, maxBytes: 1000 }, forge(await aPermit()));
    await expect(calling).rejects.toThrow(NotPermitted);

    expect(resolved).toEqual([]);
    expect(receiver.connections).toBe(0);
  });
});

describe('the outbound client', () => {
  it('sends with a permit from the gate', async () => {
    const { client, request, resolved } = await aClient();
    expect(await client.post(request, await aPermit())).toMatchObject({ kind: 'answered', status: 204 });
    expect(resolved).toEqual(['receiver.example.com']);
  });

  it('cannot be called without a permit in TypeScript', async () => {
    const { client, request } = await aClient();
    // @ts-expect-error: a permit is missing
    await expect(client.post(request)).rejects.toThrow(NotPermitted);
    // @ts-expect-error: that is none
    await expect(client.post(request, { orgId: 'org_1' })).rejects.toThrow(NotPermitted);
  });
});

const blocking = (blocked: string) => ({
  loopback: 'allow' as const,
  blocks: (host: string) => host === blocked,
});

it('a client sends nothing to a blocked host', async () => {
  const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
  const client = localClient({
    policy: blocking('receiver.example.com'),
    resolve: async () => ['127.0.0.1'],
  });

  expect(await postTo(client, receiver.url('receiver.example.com'))).toMatchObject({
    kind: 'failed',
    errorCode: 'address_forbidden',
    error: 'url has a host that the operator of this service has blocked',
  });
  expect(receiver.connections).toBe(0);
});

it('a client sends nothing to a name that resolves to a blocked address', async () => {
  const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
  const client = localClient({ policy: blocking('127.0.0.1'), resolve: async () => ['127.0.0.1'] });

  expect(await postTo(client, receiver.url('receiver.example.com'))).toMatchObject({
    kind: 'failed',
    errorCode: 'address_forbidden',
    error: 'address is blocked by the operator of this service',
  });
  expect(receiver.connections).toBe(0);
});

it('a client follows no redirect to a blocked host', async () => {
  const receiver = await httpsReceiver((_request, response) =>
    response.writeHead(302, { location: 'https://blocked.example.com/' }).end(),
  );
  const client = localClient({ policy: blocking('blocked.example.com'), resolve: async () => ['127.0.0.1'] });

  expect(await fetchFrom(client, receiver.url('receiver.example.com'))).toMatchObject({
    kind: 'failed',
    error:
      'redirected to a URL that is not allowed: url has a host that the operator of this service has blocked',
  });
  expect(receiver.connections).toBe(1);
});

describe('connections', () => {
  it('are reused, without resolving the name again', async () => {
    const resolve = vi.fn(async () => ['127.0.0.1']);
    const client = localClient({ resolve });
    const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
    let posts = 0;

    await until('a connection to be used again', async () => {
      await postTo(client, receiver.url('receiver.example.com'));
      posts += 1;
      return receiver.connections < posts;
    });
    expect(resolve).toHaveBeenCalledTimes(receiver.connections);
  });
});

const closed = 'connection closed before the response';

describe('many posts to a receiver that hangs', () => {
  it('end by their deadlines, including those that wait for a free socket', async () => {
    const hanging = await rawReceiver(() => undefined);
    const agent = localAgent();
    const request = { url: hanging.url('127.0.0.1'), headers: {}, body: new Uint8Array() };
    const within = (timeoutMs: number) => exchange(request, { agent, timeoutMs, now: Date.now });

    const patient = Array.from({ length: 50 }, () => within(20_000));
    expect(await within(150)).toMatchObject({ error: 'timed out after 0.15 s' });

    agent.destroy();
    for (const result of await Promise.all(patient)) expect(result).toMatchObject({ error: closed });
  });

  it('do not delay another receiver', async () => {
    const hanging = await rawReceiver(() => undefined);
    const healthy = await httpsReceiver((_request, response) => response.writeHead(204).end());
    const client = localClient();

    const stuck = Array.from({ length: 60 }, () => postTo(client, hanging.url()));
    await until('50 connections', () => hanging.connections === 50, 25_000);
    expect(await postTo(client, healthy.url())).toMatchObject({ kind: 'answered', status: 204 });

    for (const socket of hanging.open) socket.destroy();
    await until('60 connections', () => hanging.connections === 60, 25_000);
    for (const socket of hanging.open) socket.destroy();
    for (const result of await Promise.all(stuck)) expect(result).toMatchObject({ error: closed });
  });
});
