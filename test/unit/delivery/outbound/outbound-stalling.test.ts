import type { Socket } from 'node:net';
import { createGzip } from 'node:zlib';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { OutboundResult } from '../../../../functions/delivery/outbound/client.ts';
import { exchange } from '../../../../functions/delivery/outbound/exchange.ts';
import {
  drip,
  localAgent,
  localClient,
  postTo,
  pour,
  type Receiver,
  rawReceiver,
  tcpReceiver,
} from './receivers.ts';

const PATIENT = 20_000;
const HASTY = 150;

const timedOut = { kind: 'failed', errorCode: 'timeout', error: 'timed out after 0.15 s' };
const closed = {
  kind: 'failed',
  errorCode: 'connection_closed',
  error: 'connection closed before the response',
};
const handshakeFailed = {
  kind: 'failed',
  errorCode: 'tls',
  error: expect.stringMatching(/^TLS handshake failed[\w ()]*$/),
};

async function resultOf(receiver: Receiver, timeoutMs: number) {
  const result = await postTo(localClient({ timeoutMs }), receiver.url());
  // The client closes the connection: none of these receivers ever would.
  await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
  return result;
}

/** Sends bytes instead of TLS as soon as the client has sent its hello. */
function insteadOfTls(onHello: (socket: Socket) => void): Promise<Receiver> {
  return tcpReceiver((socket) => socket.once('data', () => onHello(socket)));
}

/** The head of a TLS record (RFC 8446, section 5.1): type, version 1.2 as always, length. */
function record(type: number, length: number, content: number[] = []): Uint8Array {
  return Uint8Array.of(type, 3, 3, length >> 8, length & 255, ...content);
}
/** Sent as one write, because many single writes would take most of the time. */
function many(small: Uint8Array): Uint8Array {
  return Buffer.concat(new Array<Uint8Array>(5000).fill(small));
}

const ALERT = 21;
const HANDSHAKE = 22;
const SERVER_HELLO = [2, 0, 0x40, 0];

describe('a post to a receiver that stalls in TLS ends by the deadline', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['before its first byte', (socket) => socket.resume()],
    ['after half the head of a record', (socket) => socket.write(record(HANDSHAKE, 100).subarray(0, 3))],
    ['after the head of a record', (socket) => socket.write(record(HANDSHAKE, 0x4000))],
    ['in its hello', (socket) => socket.write(record(HANDSHAKE, 4, SERVER_HELLO))],
    [
      'in its hello, which it drips',
      (socket) => {
        socket.write(record(HANDSHAKE, 0x4000, SERVER_HELLO));
        drip(socket, Uint8Array.of(0));
      },
    ],
  ])('%s', async (_when, stall) => {
    expect(await resultOf(await insteadOfTls(stall), HASTY)).toMatchObject(timedOut);
  });
});

describe('a post to a receiver that breaks TLS fails with a readable reason', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['with a record too long', (socket) => socket.write(record(HANDSHAKE, 0xffff))],
    ['with records of an unknown type', (socket) => pour(socket, many(record(99, 1, [0])))],
    ['with empty records without end', (socket) => pour(socket, many(record(HANDSHAKE, 0)))],
    ['with warnings without end', (socket) => pour(socket, many(record(ALERT, 2, [1, 90])))],
    ['with a fatal alert', (socket) => socket.write(record(ALERT, 2, [2, 40]))],
    ['with random bytes without end', (socket) => pour(socket, new Uint8Array(64 * 1024).fill(0xa5))],
    ['with plain HTTP', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')],
  ])('%s', async (_how, breakIt) => {
    expect(await resultOf(await insteadOfTls(breakIt), PATIENT)).toMatchObject(handshakeFailed);
  });

  it('with a reset in the handshake', async () => {
    const receiver = await insteadOfTls((socket) => {
      socket.write(record(HANDSHAKE, 4, SERVER_HELLO), () => socket.resetAndDestroy());
    });
    expect(await resultOf(receiver, PATIENT)).toMatchObject(closed);
  });

  it('with the end of the connection in the handshake', async () => {
    const receiver = await insteadOfTls((socket) => socket.end(record(HANDSHAKE, 4, SERVER_HELLO)));
    expect(await resultOf(receiver, PATIENT)).toMatchObject(closed);
  });
});

describe('a post to a receiver that stalls in HTTP ends by the deadline', () => {
  const OK = 'HTTP/1.1 200 OK\r\n';

  it.each<[string, (socket: Socket) => void]>([
    ['after a byte', (socket) => socket.write('H')],
    ['after the status line', (socket) => socket.write(OK)],
    ['in the name of a header', (socket) => socket.write(`${OK}content-le`)],
    ['in the value of a header', (socket) => socket.write(`${OK}content-length: 1`)],
    ['before the empty line', (socket) => socket.write(`${OK}content-length: 0\r\n`)],
    ['in the empty line', (socket) => socket.write(`${OK}content-length: 0\r\n\r`)],
    [
      'a byte at a time',
      (socket) => {
        socket.write(`${OK}x: `);
        drip(socket, 'y');
      },
    ],
    ['after interim responses', (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5))],
    ['in an interim response', (socket) => socket.write('HTTP/1.1 103 Early Hints\r\nlink: ')],
  ])('%s', async (_when, stall) => {
    expect(await resultOf(await rawReceiver(stall), HASTY)).toMatchObject(timedOut);
  });

  it('although the receiver answers later', async () => {
    const asked = Promise.withResolvers<Socket>();
    const receiver = await rawReceiver((socket) => asked.resolve(socket));
    const post = postTo(localClient({ timeoutMs: HASTY }), receiver.url());
    const socket = await asked.promise;
    const result = await post;
    socket.write(`${OK}content-length: 0\r\n\r\n`);
    expect(result).toMatchObject(timedOut);
    await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
  });
});

describe('a post to a receiver that stalls after its answer ends with this answer', () => {
  const ERROR = 'HTTP/1.1 500 Internal Server Error\r\n';

  it.each<[string, string, (socket: Socket) => void]>([
    ['in a body of a length', `${ERROR}content-length: 10\r\n\r\nhalf`, () => undefined],
    ['in a body without a length', `${ERROR}\r\nhalf`, () => undefined],
    ['in a chunk', `${ERROR}transfer-encoding: chunked\r\n\r\nff\r\nhalf`, () => undefined],
    ['after a chunk', `${ERROR}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`, () => undefined],
    [
      'before the last chunk ends',
      `${ERROR}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n`,
      () => undefined,
    ],
    [
      'in a body of the largest length',
      `${ERROR}content-length: 9007199254740991\r\n\r\nhalf`,
      () => undefined,
    ],
    [
      'in trailers that it drips',
      `${ERROR}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n`,
      (socket) => drip(socket, 'x: y\r\n'),
    ],
  ])('%s', async (_when, answer, onwards) => {
    const receiver = await rawReceiver((socket) => {
      socket.write(answer);
      onwards(socket);
    });
    expect(await postPastDeadline(receiver)).toMatchObject({ kind: 'answered', status: 500, body: 'half' });
    await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
  });

  it('in the body of a success, which is not awaited', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
      drip(socket, '.');
    });
    expect(await resultOf(receiver, PATIENT)).toMatchObject({ kind: 'answered', status: 200, body: '' });
  });

  it('with an endless compressed body, of which a KiB is kept compressed', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.write(`${ERROR}content-encoding: gzip\r\n\r\n`);
      const gzip = createGzip();
      gzip.pipe(socket);
      const zeros = Buffer.alloc(1024 * 1024);
      const more = () => {
        if (socket.writable) gzip.write(zeros, more);
      };
      more();
    });
    const result = await resultOf(receiver, PATIENT);
    expect(result).toMatchObject({ kind: 'answered', status: 500 });
    const body = result.kind === 'answered' ? result.body : '';
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(1024);
    // The magic number of gzip, whose second byte is invalid UTF-8: the body was not decoded.
    expect(body.slice(0, 2)).toBe('\u001f\ufffd');
  });

  it.each(['deflate', 'br', 'zstd', 'gzip, gzip, gzip', 'x-unknown'])(
    'with an encoding called %s, which is ignored',
    async (encoding) => {
      const receiver = await rawReceiver((socket) => {
        socket.write(`${ERROR}content-encoding: ${encoding}\r\ncontent-length: 4\r\n\r\nhalf`);
      });
      expect(await postTo(localClient(), receiver.url())).toMatchObject({ status: 500, body: 'half' });
    },
  );
});

describe('a post to a receiver that breaks HTTP', () => {
  it.each([
    ['16 KiB of one header', `x: ${'y'.repeat(16 * 1024)}\r\n`],
    ['a name of 16 KiB', `${'x'.repeat(16 * 1024)}: y\r\n`],
    ['ten thousand small headers', 'x: y\r\n'.repeat(10_000)],
    ['a megabyte of cookies', `set-cookie: ${'c'.repeat(1000)}\r\n`.repeat(1000)],
  ])('with %s fails, although the headers end', async (_what, headers) => {
    const receiver = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${headers}content-length: 0\r\n\r\n`);
    });
    expect(await resultOf(receiver, PATIENT)).toMatchObject({
      kind: 'failed',
      errorCode: 'invalid_response',
      error: 'response headers are too large',
    });
  });

  it('with a length beyond the number range ends with the answer', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(40)}\r\n\r\n`);
    });
    expect(await resultOf(receiver, PATIENT)).toMatchObject({ kind: 'answered', status: 200 });
  });

  it.each([
    ['a chunk beyond the number range', `${'f'.repeat(40)}\r\nhalf`],
    ['a chunk of a negative length', '-4\r\nhalf'],
    ['trailers without end', `0\r\n${'x: y\r\n'.repeat(20_000)}`],
  ])('with %s ends with the answer', async (_what, body) => {
    const receiver = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 500 Internal Server Error\r\ntransfer-encoding: chunked\r\n\r\n${body}`);
    });
    expect(await resultOf(receiver, PATIENT)).toMatchObject({ kind: 'answered', status: 500, body: '' });
  });

  it.each([
    ['before the status line', '', closed],
    ['in the status line', 'HTTP/1.1 2', closed],
    ['in the headers', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n', closed],
    [
      'after the headers of a success',
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n',
      { status: 200, body: '' },
    ],
    ['in the body of a refusal', 'HTTP/1.1 500 No\r\ncontent-length: 10\r\n\r\nhalf', { status: 500 }],
  ])('with a reset %s ends at once', async (_when, answer, outcome) => {
    const receiver = await rawReceiver((socket) => {
      // The connection below TLS is reset once it has accepted the preceding bytes.
      socket.write(answer, () => {
        for (const connection of receiver.open) connection.resetAndDestroy();
      });
    });
    expect(await resultOf(receiver, PATIENT)).toMatchObject(outcome);
  });
});

/**
 * The result of a post whose deadline passes as soon as headers have arrived, together with what the receiver
 * wrote in one piece with them. The timer is moved by hand, because on a busy machine it could fire earlier.
 */
async function postPastDeadline(receiver: Receiver): Promise<OutboundResult> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });

  // The clock is read when the post begins, and again when its headers have arrived.
  const headersArrived = Promise.withResolvers<void>();
  let readings = 0;
  const now = () => {
    readings += 1;
    if (readings === 2) headersArrived.resolve();
    return 0;
  };
  const request = { url: receiver.url('127.0.0.1'), headers: {}, body: new Uint8Array() };
  const result = exchange(request, { agent: localAgent(), timeoutMs: 60_000, now });
  await headersArrived.promise;
  await new Promise((later) => setImmediate(later));
  vi.advanceTimersByTime(60_000);
  return result;
}
