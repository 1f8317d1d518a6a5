import { describe, expect, it, vi } from 'vitest';
import { guardedLookup } from '../../../../functions/delivery/outbound/agent.ts';
import { exchange } from '../../../../functions/delivery/outbound/exchange.ts';
import {
  guardedClient,
  httpsReceiver,
  localAgent,
  localClient,
  postTo,
  type Receiver,
  tcpReceiver,
} from './receivers.ts';

const refuse = { loopback: 'refuse' } as const;

function answering(): Promise<Receiver> {
  return httpsReceiver((_request, response) => response.writeHead(204).end());
}

describe('a forbidden URL', () => {
  it.each(['http://localhost/', 'https://user@localhost/', 'https://localhost:80/', 'ftp://localhost/'])(
    'causes no DNS query, such as %s',
    async (url) => {
      const resolve = vi.fn(async () => ['127.0.0.1']);
      expect(await postTo(localClient({ resolve }), new URL(url))).toMatchObject({
        kind: 'failed',
        errorCode: 'address_forbidden',
      });
      expect(resolve).not.toHaveBeenCalled();
    },
  );
});

describe('a name', () => {
  it.each([
    ['something that is no address', ['localhost']],
    ['an address in another notation', ['0x7f.1']],
  ])('is refused when it leads to %s', async (_what, addresses) => {
    const receiver = await answering();
    const client = localClient({ policy: refuse, resolve: async () => addresses });

    expect(await postTo(client, receiver.url('receiver.example.com'))).toMatchObject({
      kind: 'failed',
      error: 'address is not public',
    });
    expect(receiver.connections).toBe(0);
  });

  it.each([
    ['fails with its reason when it has no other', ['::1'], 'failed', 0],
    ['is reached at its IPv4 address alone', ['::1', '127.0.0.1'], 'answered', 1],
  ])('with an IPv6 address, to which there is no route, %s', async (_what, addresses, kind, connections) => {
    const receiver = await answering();
    const client = localClient({
      policy: { loopback: 'allow', ipv6: 'refuse' },
      resolve: async () => addresses,
    });
    expect(await postTo(client, receiver.url('receiver.example.com'))).toMatchObject({
      kind,
      ...(kind === 'failed' && {
        errorCode: 'address_forbidden',
        error: 'host has IPv6 addresses only, and this service sends over IPv4',
      }),
    });
    expect(receiver.connections).toBe(connections);
  });

  it('is refused in the local run when it leads to loopback and another internal address', async () => {
    const receiver = await answering();
    const client = localClient({ resolve: async () => ['127.0.0.1', '10.0.0.1'] });

    expect(await postTo(client, receiver.url('receiver.example.com'))).toMatchObject({
      error: 'address is not public',
    });
    expect(receiver.connections).toBe(0);
  });

  it('is refused the second time when it first leads to a public address and then to loopback', async () => {
    const answers = [['8.8.8.8', '2606:4700::1'], ['127.0.0.1']];
    const lookup = guardedLookup(async () => answers.shift() ?? [], refuse);
    const ask = () =>
      new Promise((resolve, reject) => {
        lookup('receiver.example.com', { all: true }, (error, addresses) =>
          error ? reject(error) : resolve(addresses),
        );
      });

    expect(await ask()).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
    await expect(ask()).rejects.toThrow('deliveries may not go to');
  });

  it('is tried at its other addresses when one does not answer', async () => {
    const receiver = await answering();
    const client = localClient({ resolve: async () => ['127.0.0.2', '127.0.0.1'] });
    expect(await postTo(client, receiver.url('receiver.example.com'))).toMatchObject({
      kind: 'answered',
      status: 204,
    });
  });

  it.each([
    ['ENOTFOUND', 'host name does not resolve'],
    ['ENODATA', 'host name does not resolve'],
    ['ESERVFAIL', 'host name could not be resolved'],
    ['ETIMEOUT', 'host name could not be resolved'],
    ['ECONNREFUSED', 'host name could not be resolved'],
    ['EAI_AGAIN', 'host name could not be resolved'],
  ])('causes a failed attempt when its resolution fails with %s', async (code, error) => {
    const client = localClient({
      resolve: async () => {
        throw Object.assign(new Error('queryA receiver.example.com'), { code });
      },
    });
    expect(await postTo(client, new URL('https://receiver.example.com/'))).toMatchObject({
      kind: 'failed',
      errorCode: 'dns',
      error,
    });
  });

  it('causes a failed attempt when it has no addresses', async () => {
    const client = localClient({ resolve: async () => [] });
    expect(await postTo(client, new URL('https://receiver.example.com/'))).toMatchObject({
      kind: 'failed',
      error: 'host name does not resolve',
    });
  });
});

describe('a connection to an unchecked address', () => {
  it('is closed before its first byte', async () => {
    let bytes = 0;
    const closed = Promise.withResolvers<void>();
    const receiver = await tcpReceiver((socket) => {
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.on('close', () => closed.resolve());
    });
    const agent = localAgent({ loopback: 'refuse' });
    const url = receiver.url('receiver.example.com');
    const request = { url, headers: {}, body: new Uint8Array(10) };
    expect(await exchange(request, { agent, timeoutMs: 20_000, now: Date.now })).toMatchObject({
      kind: 'failed',
      error: 'address is not public',
    });
    await closed.promise;
    expect(bytes).toBe(0);
  });
});

it.each([301, 302, 303, 307, 308])(
  'the guard takes a redirect (%i) to the metadata service as the answer, without following it',
  async (status) => {
    const receiver = await httpsReceiver((_request, response) => {
      response.writeHead(status, { location: 'https://169.254.169.254/latest/meta-data/' }).end();
    });
    const { attempts, client } = await guardedClient(
      { 'receiver.example.com': { A: ['8.8.8.8'] } },
      receiver,
    );
    expect(await postTo(client, new URL('https://receiver.example.com/'))).toMatchObject({
      kind: 'answered',
      status,
    });
    expect(attempts).toEqual([{ address: '8.8.8.8', port: 443 }]);
  },
);
