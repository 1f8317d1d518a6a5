import { once } from 'node:events';
import { createServer, OutgoingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { requestHandler } from '../../../functions/aws/request-handler.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A request to a server that answers so. */
async function requestTo(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const body = '{"Key":"ä"}';
  return {
    protocol: 'http:',
    hostname: '127.0.0.1',
    port,
    method: 'POST',
    path: '/',
    headers: { 'content-length': String(Buffer.byteLength(body)), 'x-amz-target': 'DynamoDB.GetItem' },
    body,
  };
}

/** Bytes that act as text, as those of the SDK do. */
class BytesAndText extends Uint8Array {
  override valueOf(): this {
    throw new Error('taken for text');
  }
}

const handlerOf = (requestMs = 60_000) => requestHandler({ connectMs: 60_000, requestMs });

describe("the SDK's requests", () => {
  it('are plain bytes for what sends them', async () => {
    const request = await requestTo(async (incoming, response) =>
      response.end(Buffer.concat(await incoming.toArray())),
    );
    const end = vi.spyOn(OutgoingMessage.prototype, 'end');
    const { handle, destroy } = handlerOf();
    const { response } = await handle({ ...request, body: new BytesAndText(Buffer.from(request.body)) });
    expect(Buffer.from(response.body).toString()).toBe(request.body);
    expect(end.mock.calls.filter(([chunk]) => Object(chunk) instanceof BytesAndText)).toEqual([]);
    end.mockRestore();
    destroy();
  });

  it('arrive whole and are answered with a whole body over one connection', async () => {
    const sockets = new Set<unknown>();
    const request = await requestTo(async (incoming, response) => {
      sockets.add(incoming.socket);
      const chunks = await incoming.toArray();
      response.writeHead(400, 'Bad', { 'x-amzn-requestid': 'r' });
      response.write(Buffer.concat(chunks));
      response.end(String(incoming.headers['x-amz-target']));
    });
    const { handle, destroy } = handlerOf();
    for (const _ of [1, 2]) {
      const { response } = await handle(request);
      expect(response).toMatchObject({
        statusCode: 400,
        reason: 'Bad',
        headers: { 'x-amzn-requestid': 'r' },
      });
      expect(Buffer.from(response.body).toString()).toBe('{"Key":"ä"}DynamoDB.GetItem');
    }
    expect(sockets.size).toBe(1);
    destroy();
  });

  it('end with a transient error without a response in time', async () => {
    const request = await requestTo(() => undefined);
    await expect(handlerOf(1).handle(request)).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'ETIMEDOUT',
    });
  });

  it('end with a transient error when the body does not arrive in time', async () => {
    const request = await requestTo((_, response) => void response.writeHead(200).write('{'));
    await expect(handlerOf(50).handle(request)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('fail when the connection ends before the response, or in it', async () => {
    const unanswered = await requestTo(({ socket }) => void socket.destroy());
    await expect(handlerOf().handle(unanswered)).rejects.toMatchObject({ code: 'ECONNRESET' });
    const halfAnswered = await requestTo(({ socket }, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{', () => socket.destroy());
    });
    await expect(handlerOf().handle(halfAnswered)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('are answered although the connection ends right after the response', async () => {
    const request = await requestTo(({ socket }, response) => {
      response.writeHead(200, { 'content-length': '2' });
      response.end('{}', () => socket.destroy());
    });
    const { response } = await handlerOf().handle(request);
    expect(Buffer.from(response.body).toString()).toBe('{}');
  });

  it('are aborted before and while they wait', async () => {
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    const request = await requestTo(() => resolve());
    await expect(handlerOf().handle(request, { abortSignal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    const controller = new AbortController();
    const waiting = handlerOf().handle(request, { abortSignal: controller.signal });
    await arrived;
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});
