import { describe, expect, it } from 'vitest';
import { NotPermitted } from '../../../../functions/tenancy/gate.ts';
import { aPermit } from './permit.ts';
import { httpsReceiver, localClient, type OutboundClient } from './receivers.ts';

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
