import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, OutgoingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { requestHandler, requestSigner } from '../../../functions/aws/sdk-parts.ts';

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

const region = 'eu-central-1';
const aCase = fc.record({
  accessKeyId: fc.stringMatching(/^AKIA[A-Z0-9]{16}$/),
  secretAccessKey: fc.stringMatching(/^[A-Za-z0-9/+]{40}$/),
  sessionToken: fc.option(fc.stringMatching(/^[A-Za-z0-9/+=]{20,60}$/), { nil: undefined }),
  body: fc.string({ unit: 'grapheme', maxLength: 200 }),
  isBinary: fc.boolean(),
  path: fc.constantFrom('/', '/2015-03-31/functions/conversation-service-dev-x/invocations'),
  target: fc.string({ unit: fc.constantFrom(' ', '\t', 'a', '.', '"', 'Z'), maxLength: 20 }),
  signingDate: fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
});

const aRequest = (headers: Record<string, string>, body: unknown) => ({
  protocol: 'https:',
  hostname: 'dynamodb.eu-central-1.amazonaws.com',
  method: 'POST',
  path: '/',
  query: {},
  headers,
  body,
});

const signerOf = (credentials: { accessKeyId: string; secretAccessKey: string }) =>
  requestSigner({ service: 'dynamodb', region: () => region, credentials: async () => credentials });

describe('the signer of requests', () => {
  it("signs as the SDK's signer does", async () => {
    await fc.assert(
      fc.asyncProperty(
        aCase,
        async ({ body, isBinary, path, target, signingDate, sessionToken, ...keys }) => {
          const credentials = { ...keys, ...(sessionToken === undefined ? {} : { sessionToken }) };
          const bytes = Buffer.from(body);
          const headers = {
            host: 'dynamodb.eu-central-1.amazonaws.com',
            'content-type': 'application/x-amz-json-1.0',
            'x-amz-target': target,
            'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex'),
          };
          const sent = isBinary ? bytes : body;
          const ours = await signerOf(credentials).sign(
            { ...aRequest({ ...headers }, sent), path },
            { signingDate },
          );
          const client = new DynamoDBClient({ region, credentials });
          const sdks = await client.config.signer();
          const theirs = await sdks.sign(
            { ...aRequest({ ...headers }, sent), path },
            {
              signingDate,
              signingService: 'dynamodb',
            },
          );
          expect(ours.headers).toEqual(theirs.headers);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('leaves out headers that proxies may change', async () => {
    const headers = { host: 'h', 'user-agent': 'ours', 'amz-sdk-request': 'attempt=1; max=3' };
    const { headers: signed } = await signerOf({ accessKeyId: 'a', secretAccessKey: 'b' }).sign(
      aRequest(headers, '{}'),
    );
    expect(signed.authorization).toContain('SignedHeaders=host;x-amz-date,');
  });

  it('refuses requests that it cannot sign', async () => {
    const signer = signerOf({ accessKeyId: 'a', secretAccessKey: 'b' });
    for (const request of [
      { ...aRequest({}, '{}'), path: '/a%20b' },
      { ...aRequest({}, '{}'), query: { a: '1' } },
      aRequest({}, new ReadableStream()),
    ])
      await expect(signer.sign(request)).rejects.toThrow('only whole requests');
  });

  it('reads credentials again after it could not', async () => {
    let reads = 0;
    const signer = requestSigner({
      service: 'sqs',
      region: () => region,
      async credentials() {
        reads += 1;
        if (reads === 1) throw new Error('none yet');
        return { accessKeyId: 'a', secretAccessKey: 'b' };
      },
    });
    await expect(signer.sign(aRequest({}, '{}'))).rejects.toThrow('none yet');
    await signer.sign(aRequest({}, '{}'));
    await signer.sign(aRequest({}, '{}'));
    expect(reads).toBe(2);
  });
});
