import { expect, it } from 'vitest';
import { fetchFrom, httpsReceiver, localClient, postTo } from './receivers.ts';

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
    error: 'url has a host that the operator of this service has blocked',
  });
  expect(receiver.connections).toBe(0);
});

it('a client sends nothing to a name that resolves to a blocked address', async () => {
  const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
  const client = localClient({ policy: blocking('127.0.0.1'), resolve: async () => ['127.0.0.1'] });

  expect(await postTo(client, receiver.url('receiver.example.com'))).toMatchObject({
    kind: 'failed',
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
