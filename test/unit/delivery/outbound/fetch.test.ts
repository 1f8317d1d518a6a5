import type { IncomingHttpHeaders } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fetchFrom, httpsReceiver, localClient, rawReceiver } from './receivers.ts';

const text = (result: unknown): string => Buffer.from(Object(result).body).toString();

const ETAG = '"33a64df5"';
const MODIFIED = 'Wed, 21 Oct 2015 07:28:00 GMT';

/** A server that answers 304 to a matching validator and a page otherwise, and records its requests. */
async function aPage() {
  const asked: { method?: string; url?: string; headers: IncomingHttpHeaders }[] = [];
  const server = await httpsReceiver(({ method, url, headers }, response) => {
    asked.push({ method, url, headers });
    if (headers['if-none-match'] === ETAG) return response.writeHead(304).end();
    response.writeHead(200, { 'content-type': 'text/html', etag: ETAG, 'last-modified': MODIFIED });
    response.end('<p>Hällo');
  });
  return { server, asked };
}

describe('a fetch', () => {
  it('returns the content with its validators and type', async () => {
    const { server, asked } = await aPage();
    const url = server.url('receiver.example.com', '/page?a=1');
    const result = await fetchFrom(localClient(), url, { 'user-agent': 'test/1' });

    expect(result).toMatchObject({
      kind: 'fetched',
      url: url.href,
      contentType: 'text/html',
      etag: ETAG,
      lastModified: MODIFIED,
    });
    expect(text(result)).toBe('<p>Hällo');
    expect(asked).toMatchObject([
      {
        method: 'GET',
        url: '/page?a=1',
        headers: { host: url.host, 'user-agent': 'test/1', 'accept-encoding': 'identity' },
      },
    ]);
  });

  it('reports unchanged content', async () => {
    const { server } = await aPage();
    const result = await fetchFrom(localClient(), server.url(), { 'If-None-Match': ETAG });
    expect(result).toEqual({ kind: 'not-modified' });
  });

  it('omits the headers that the server does not send', async () => {
    const server = await httpsReceiver((_request, response) => response.end());
    expect(await fetchFrom(localClient(), server.url())).toEqual({
      kind: 'fetched',
      url: server.url().href,
      body: new Uint8Array(),
    });
  });

  it('fails on a 304 to an unconditional request', async () => {
    const server = await httpsReceiver((_request, response) => response.writeHead(304).end());
    expect(await fetchFrom(localClient(), server.url())).toEqual({
      kind: 'failed',
      errorCode: 'http_status',
      error: 'the server answered 304',
    });
  });

  it.each([101, 201, 202, 204, 206, 300, 305, 400, 401, 403, 404, 410, 429, 500, 503, 999])(
    'fails on a %i with any body',
    async (status) => {
      const server = await rawReceiver((socket) =>
        socket.end(
          `HTTP/1.1 ${status} No Such Status\r\nconnection: close\r\n\r\nsecret words of the server`,
        ),
      );
      expect(await fetchFrom(localClient(), server.url())).toEqual({
        kind: 'failed',
        errorCode: 'http_status',
        error: `the server answered ${status}`,
      });
    },
  );

  it('returns content that a proxy has changed', async () => {
    const server = await httpsReceiver((_request, response) => response.writeHead(203).end('changed'));
    expect(text(await fetchFrom(localClient(), server.url()))).toBe('changed');
  });

  it('throws for headers that HTTP cannot carry', async () => {
    const { server } = await aPage();
    const request = fetchFrom(localClient(), server.url(), { 'if-none-match': 'a\r\nx: y' });
    await expect(request).rejects.toThrow(TypeError);
  });

  it('uses few connections for several at once, and posts beside them', async () => {
    const { server, asked } = await aPage();
    const client = localClient();
    const results = await Promise.all(Array.from({ length: 20 }, () => fetchFrom(client, server.url())));
    expect(results.map(({ kind }) => kind)).toEqual(new Array(20).fill('fetched'));
    for (let time = 0; time < 5; time += 1) await fetchFrom(client, server.url());
    expect(asked).toHaveLength(25);
    expect(server.connections).toBeLessThanOrEqual(20);
  });
});

describe('a header of the content', () => {
  const MIB = 'x'.repeat(1025);
  it.each([
    ['etag', '"a b"'],
    ['etag', '"caf\u00e9"'],
    ['etag', `"${MIB}"`],
    ['etag', ''],
    ['last-modified', 'caf\u00e9'],
    ['last-modified', MIB],
    ['content-type', 'text/html; title=caf\u00e9'],
    ['content-type', MIB],
    ['content-type', 'text/html\tx'],
  ])('is omitted when it could not be sent back or shown: %s %j', async (name, value) => {
    const server = await rawReceiver((socket) =>
      socket.end(
        Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n${name}: ${value}\r\n\r\nok`, 'latin1'),
      ),
    );
    const result = await fetchFrom(localClient(), server.url());
    expect(Object.keys(result)).toEqual(['kind', 'url', 'body']);
    expect(text(result)).toBe('ok');
  });

  it.each(['"x"', 'W/"weak"', 'unquoted', '""', `"${'x'.repeat(1022)}"`])(
    'is kept unchanged: etag %s',
    async (etag) => {
      const server = await httpsReceiver((_request, response) => response.writeHead(200, { etag }).end());
      expect(await fetchFrom(localClient(), server.url())).toMatchObject({ etag });
    },
  );
});

describe('content with an encoding that was not requested', () => {
  const content = 'Hällo '.repeat(1000);

  it.each([
    ['gzip', gzipSync(content)],
    ['x-gzip', gzipSync(content)],
    ['GZIP', gzipSync(content)],
    ['deflate', deflateSync(content)],
    ['deflate', deflateRawSync(content)],
    ['br', brotliCompressSync(content)],
    ['identity', Buffer.from(content)],
    ['aws-chunked, gzip', gzipSync(content)],
    ['gzip,aws-chunked', gzipSync(content)],
    ['gzip', Buffer.alloc(0)],
  ])('with %s is decoded', async (encoding, body) => {
    const server = await httpsReceiver((_request, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(body),
    );
    const result = await fetchFrom(localClient(), server.url());
    expect(text(result)).toBe(body.length === 0 ? '' : content);
  });

  it.each(['utf-8', 'UTF-8', 'none', 'aws-chunked', 'binary', '8bit', 'x-unknown', 'identity, utf-8', ','])(
    'is returned as it is when %s names no coding',
    async (encoding) => {
      const server = await httpsReceiver((_request, response) =>
        response.writeHead(200, { 'content-encoding': encoding }).end(content),
      );
      expect(text(await fetchFrom(localClient(), server.url()))).toBe(content);
    },
  );

  it.each([
    ['gzip', Buffer.from(content), 'the content is not valid gzip'],
    ['gzip', gzipSync(content).subarray(0, 40), 'the content is not valid gzip'],
    ['deflate', Buffer.from('\u0078\u009cx', 'latin1'), 'the content is not valid deflate'],
    ['br', gzipSync(content), 'the content is not valid Brotli'],
    ['zstd', zstdCompressSync(content), 'the content has an encoding that was not requested'],
    ['gzip, gzip', gzipSync(gzipSync(content)), 'the content has an encoding that was not requested'],
    ['compress', Buffer.from(content), 'the content has an encoding that was not requested'],
  ])('with %s fails when it cannot be decoded', async (encoding, body, error) => {
    const server = await httpsReceiver((_request, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(body),
    );
    expect(await fetchFrom(localClient(), server.url())).toEqual({
      kind: 'failed',
      errorCode: 'invalid_response',
      error,
    });
  });
});
