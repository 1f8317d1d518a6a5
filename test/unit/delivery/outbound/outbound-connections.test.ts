import { until } from 'aws-local/test/until.ts';
import { describe, expect, it, vi } from 'vitest';
import { exchange } from '../../../../functions/delivery/outbound/exchange.ts';
import { httpsReceiver, localAgent, localClient, postTo, rawReceiver } from './receivers.ts';

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
