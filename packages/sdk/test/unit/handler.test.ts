import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  createMemoryStore,
  fastifyReceiver,
  fetchHandler,
  type HandlerOptions,
  handle,
  lambdaHandler,
  nodeHandler,
} from '../../src/receiver/handler.ts';
import { aBody, aSecret, signedHeaders } from '../signed-request.ts';

const secret = aSecret();
const body = aBody({});
const quiet = () => undefined;

const aRequest = (id = 'evt_1') => {
  const at = new Date();
  return { headers: signedHeaders(new Webhook(secret).sign(id, at, body), at, id), body };
};
const aFetchRequest = () => {
  const { headers } = aRequest();
  return new Request('https://receiver.example', { method: 'POST', headers, body });
};

describe('a receiver of webhooks', () => {
  it('processes a verified event, and refuses others', async () => {
    const seen: string[] = [];
    const options = { secrets: secret, onError: quiet };
    expect(await handle(aRequest(), options, (event) => void seen.push(event.type))).toBe(204);
    expect(await handle(aRequest(), { ...options, secrets: aSecret(new Uint8Array(9)) }, quiet)).toBe(400);
    expect(await handle({ ...aRequest(), body: 'x'.repeat(2 ** 21) }, options, quiet)).toBe(413);
    expect(seen).toEqual(['webhook.test']);
  });

  it('processes an event once, also while another attempt of it is in progress', async () => {
    const store = createMemoryStore();
    const options = { secrets: [secret], store, consumer: 'orders', onError: quiet };
    let count = 0;
    const countOne = () => {
      count += 1;
    };
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const first = handle(aRequest(), options, async () => {
      count += 1;
      started.resolve();
      await release.promise;
    });
    await started.promise;
    expect(await handle(aRequest(), options, countOne)).toBe(503);
    release.resolve();
    expect(await first).toBe(204);
    expect(await handle(aRequest(), options, countOne)).toBe(204);
    expect(await handle(aRequest('evt_2'), options, countOne)).toBe(204);
    expect(count).toBe(2);
  });

  it('has an event retried whose processing failed, and processes it then', async () => {
    const reported: unknown[] = [];
    const options = {
      secrets: secret,
      store: createMemoryStore(),
      consumer: 'orders',
      onError: (error: unknown) => void reported.push(error),
    };
    const failure = new Error('the database is down');
    const failing = () => Promise.reject(failure);
    expect(await handle(aRequest(), options, failing)).toBe(500);
    expect(reported).toEqual([failure]);
    expect(await handle(aRequest(), options, quiet)).toBe(204);
  });

  it('processes an event for each consumer that shares a store, and refuses a store without one', async () => {
    const store = createMemoryStore();
    const seen: string[] = [];
    for (const consumer of ['orders', 'crm', 'crm'])
      await handle(aRequest(), { secrets: secret, store, consumer }, () => void seen.push(consumer));
    expect(seen).toEqual(['orders', 'crm']);
    const incomplete = { secrets: secret, store } as unknown as HandlerOptions;
    await expect(handle(aRequest(), incomplete, quiet)).rejects.toThrow('needs a consumer');
  });

  it('forgets the oldest events of a memory store that is full', async () => {
    const store = createMemoryStore(2);
    for (const id of ['a', 'b', 'c']) {
      expect(await store.begin(id)).toBe('new');
      await store.end(id, true);
    }
    expect(await store.begin('c')).toBe('done');
    expect(await store.begin('a')).toBe('new');
  });

  it('responds through servers with Fetch API requests, Node and Lambda', async () => {
    const options = { secrets: secret, onError: quiet };
    expect((await fetchHandler(options, quiet)(aFetchRequest())).status).toBe(204);
    const response = { statusCode: 0, isEnded: false, end: () => (response.isEnded = true) };
    await nodeHandler(options, quiet)(aRequest(), response);
    expect(response).toMatchObject({ statusCode: 204, isEnded: true });
    expect(await lambdaHandler(options, quiet)(aRequest())).toEqual({ statusCode: 204 });
  });

  it('takes the bytes of bodies from Fastify', async () => {
    const parsed: unknown[] = [];
    const statuses: number[] = [];
    const reply = { code: (status: number) => ({ send: () => statuses.push(status) }) };
    await fastifyReceiver(
      '/hooks',
      { secrets: secret, onError: quiet },
      quiet,
    )({
      addContentTypeParser: (type, { parseAs }, parse) =>
        parse(undefined, new Uint8Array([1]), (error, bytes) => parsed.push(type, parseAs, error, bytes)),
      post: (path, handler) => {
        expect(path).toBe('/hooks');
        return handler({ ...aRequest(), body: Buffer.from(body) }, reply);
      },
    });
    await expect.poll(() => statuses).toEqual([204]);
    expect(parsed).toEqual(['application/json', 'buffer', null, new Uint8Array([1])]);
  });
});
