import type { Socket } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { drip, fetchFrom, localClient, pour, type Receiver, rawReceiver } from './receivers.ts';

const PATIENT = 20_000;
const HASTY = 150;
const MAX = 1_000_000;
const OK = 'HTTP/1.1 200 OK\r\n';

const timedOut = { kind: 'failed', errorCode: 'timeout', error: 'timed out after 0.15 s' };
const tooLarge = { kind: 'failed', errorCode: 'invalid_response', error: 'the content is larger than 1 MB' };
const closed = {
  kind: 'failed',
  errorCode: 'connection_closed',
  error: 'connection closed before the end of the content',
};

async function resultOf(server: Receiver, timeoutMs: number) {
  const result = await fetchFrom(localClient({ timeoutMs }), server.url(), {}, MAX);
  // Every connection is closed, even when the server would send more.
  await until('the server to have no connection', () => server.open.size === 0, 25_000);
  return result;
}

describe('fetch ends by the deadline when a server', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['never answers', () => undefined],
    ['drips headers', (socket) => dripAfter(socket, OK, 'x: y\r\n')],
    ['announces a body and sends none', (socket) => socket.write(`${OK}content-length: 5\r\n\r\n`)],
    ['drips its body', (socket) => dripAfter(socket, `${OK}content-length: 900000\r\n\r\n`, '.')],
    ['drips a body without a length', (socket) => dripAfter(socket, `${OK}\r\n`, '.')],
    ['drips chunks', (socket) => dripAfter(socket, `${OK}transfer-encoding: chunked\r\n\r\n`, '1\r\n.\r\n')],
    [
      'drips trailers',
      (socket) => dripAfter(socket, `${OK}transfer-encoding: chunked\r\n\r\n1\r\n.\r\n0\r\n`, 'x: y\r\n'),
    ],
    ['drips an encoded body', (socket) => dripAfter(socket, `${OK}content-encoding: gzip\r\n\r\n`, '\u001f')],
    ['drips after a redirect', (socket) => dripAfter(socket, 'HTTP/1.1 302 Found\r\nlocation: /again', 'x')],
  ])('%s', async (_what, stall) => {
    expect(await resultOf(await rawReceiver(stall), HASTY)).toEqual(timedOut);
  });

  it('redirects, each time just before the deadline', async () => {
    const server = await rawReceiver((socket) => {
      const timer = setTimeout(
        () =>
          socket.end('HTTP/1.1 302 Found\r\nlocation: /x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
        HASTY / 2,
      );
      socket.on('close', () => clearTimeout(timer));
    });
    expect(await resultOf(server, HASTY)).toEqual(timedOut);
    expect(server.connections).toBeLessThan(6);
  });
});

describe('fetch cuts off a server that', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['sends a body without end', (socket) => pourAfter(socket, `${OK}\r\n`, 'x'.repeat(65_536))],
    [
      'sends chunks without end',
      (socket) =>
        pourAfter(socket, `${OK}transfer-encoding: chunked\r\n\r\n`, `10000\r\n${'x'.repeat(65_536)}\r\n`),
    ],
    ['announces too much', (socket) => socket.write(`${OK}content-length: 1000001\r\n\r\n`)],
    [
      'announces the largest length',
      (socket) => pourAfter(socket, `${OK}content-length: 9007199254740991\r\n\r\n`, 'x'.repeat(65_536)),
    ],
    [
      'sends less than a megabyte that unpacks to 900',
      (socket) =>
        socket.end(Buffer.concat([Buffer.from(`${OK}content-encoding: gzip\r\n\r\n`), manyZeros()])),
    ],
    ['sends compressed zeros without end', (socket) => pourGzip(socket)],
  ])('%s', async (_what, attack) => {
    expect(await resultOf(await rawReceiver(attack), PATIENT)).toEqual(tooLarge);
  });

  it.each<[string, (socket: Socket) => void]>([
    [
      'closes before the end of what it announced',
      (socket) => socket.end(`${OK}content-length: 10\r\n\r\nhalf`),
    ],
    ['closes in a chunk', (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\nff\r\nhalf`)],
    ['closes after a chunk', (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`)],
    [
      'sends a chunk without a length',
      (socket) => socket.write(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\nhalf`),
    ],
  ])('%s', async (_what, attack) => {
    expect(await resultOf(await rawReceiver(attack), PATIENT)).toEqual(closed);
  });

  it('sends interim responses without end', async () => {
    const server = await rawReceiver((socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'));
    expect(await resultOf(server, PATIENT)).toMatchObject({ error: 'too many interim (1xx) responses' });
  });

  it('sends headers without end', async () => {
    const server = await rawReceiver((socket) => pourAfter(socket, OK, `x: ${'y'.repeat(1000)}\r\n`));
    expect(await resultOf(server, PATIENT)).toMatchObject({ error: 'response headers are too large' });
  });

  it.each([404, 301])('sends an endless body after a %i, which is not read', async (status) => {
    const server = await rawReceiver((socket) =>
      pourAfter(socket, `HTTP/1.1 ${status} No\r\n\r\n`, 'x'.repeat(65_536)),
    );
    expect(await resultOf(server, PATIENT)).toMatchObject({ kind: 'failed' });
  });
});

describe('fetch from a server that sends more than it declares', () => {
  it('returns the declared part', async () => {
    const server = await rawReceiver((socket) => socket.end(`${OK}content-length: 4\r\n\r\nhalf and more`));
    const result = await fetchFrom(localClient(), server.url());
    expect(Buffer.from(Object(result).body).toString()).toBe('half');
  });
});

describe('a body', () => {
  it('is accepted at exactly the limit, and refused one byte beyond', async () => {
    const answer = (size: number) =>
      rawReceiver((socket) => socket.end(`${OK}connection: close\r\n\r\n${'x'.repeat(size)}`));
    expect(await resultOf(await answer(MAX), PATIENT)).toMatchObject({ kind: 'fetched' });
    expect(await resultOf(await answer(MAX + 1), PATIENT)).toEqual(tooLarge);
  });

  it('is read completely when it comes in single bytes', async () => {
    const pieces = Array.from({ length: 100_000 }, (_, index) => `1\r\n${index % 10}\r\n`).join('');
    const server = await rawReceiver((socket) =>
      socket.end(`${OK}transfer-encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`),
    );
    const result = await fetchFrom(localClient(), server.url());
    expect(Buffer.from(Object(result).body).toString()).toBe('0123456789'.repeat(10_000));
  });

  it('is read completely when it pauses for longer than the idle timeout of connections', async () => {
    const server = await rawReceiver((socket) => {
      socket.write(`${OK}content-length: 8\r\n\r\nhalf`);
      setTimeout(() => socket.end('half'), 1300);
    });
    expect(await resultOf(server, PATIENT)).toMatchObject({ kind: 'fetched' });
  });
});

function dripAfter(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  drip(socket, piece);
}

function pourAfter(socket: Socket, head: string, chunk: string): void {
  socket.write(head);
  pour(socket, chunk);
}

/** 900 MB in less than one: a gzip file may have several parts (RFC 1952, section 2.2). */
function manyZeros(): Uint8Array {
  const part = gzipSync(Buffer.alloc(100_000_000));
  return Buffer.concat(new Array<Uint8Array>(9).fill(part));
}

function pourGzip(socket: Socket): void {
  socket.write(`${OK}content-encoding: gzip\r\n\r\n`);
  const gzip = createGzip({ level: 0 });
  gzip.pipe(socket);
  const more = () => {
    if (socket.writable) gzip.write(Buffer.alloc(65_536), more);
  };
  more();
}
