import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../../../functions/delivery/outbound/exchange.ts';
import { aPermit } from './permit.ts';
import { drip, localAgent, localClient, postTo, pour, type Receiver, rawReceiver } from './receivers.ts';

const PATIENT = 20_000;
const HASTY = 150;

async function resultOf(receiver: Receiver, timeoutMs = PATIENT) {
  const result = await postTo(localClient({ timeoutMs }), receiver.url());
  // The connection is closed at once, even when the receiver would send more.
  await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
  return result;
}

const timedOut = { kind: 'failed', errorCode: 'timeout', error: 'timed out after 0.15 s' };
const invalid = { kind: 'failed', errorCode: 'invalid_response', error: 'response is not valid HTTP' };
const closed = { kind: 'failed', error: 'connection closed before the response' };

describe('a post to a receiver that', () => {
  it('switches protocols unasked gets an answer', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
      pour(socket, 'frames');
    });
    expect(await resultOf(receiver)).toMatchObject({ kind: 'answered', status: 101, body: '' });
  });

  it('sends tiny chunks with endless extensions is cut off', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 500 Internal Server Error\r\ntransfer-encoding: chunked\r\n\r\n1;');
      pour(socket, 'x'.repeat(1000));
    });
    expect(await resultOf(receiver)).toMatchObject({ kind: 'answered', status: 500, body: '' });
  });

  it('does not read the request ends by the deadline', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.pause();
      socket.write('HTTP/1.1 200 ');
      drip(socket, 'O');
    });
    const request = { url: receiver.url(), headers: {}, body: new Uint8Array(32 * 1024 * 1024) };
    const result = await localClient({ timeoutMs: HASTY }).post(request, await aPermit());
    expect(result).toMatchObject(timedOut);
    await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
  });

  it.each([200, 500])(
    'answers %i early and never reads the rest of the request ends with this answer',
    async (status) => {
      const receiver = await rawReceiver((socket) => {
        socket.pause();
        socket.write(`HTTP/1.1 ${status} Whatever\r\ncontent-length: 0\r\n\r\n`);
      });
      const agent = localAgent();
      const request = { url: receiver.url('127.0.0.1'), headers: {}, body: new Uint8Array(32 * 1024 * 1024) };

      const result = await exchange(request, { agent, timeoutMs: PATIENT, now: Date.now });
      expect(result).toMatchObject({ kind: 'answered', status });
      await until('the agent to have no connection', () => Object.keys(agent.sockets).length === 0, 25_000);
    },
  );

  it.each([
    ['garbage', '\u0000\u0001\u0002 garbage\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['an invalid status', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status in letters', 'HTTP/1.1 abc OK\r\n\r\n'],
  ])('answers with %s fails', async (_what, answer) => {
    expect(await resultOf(await rawReceiver((socket) => socket.write(answer)))).toMatchObject(invalid);
  });

  it.each([
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['the same length twice', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 0\r\n\r\n'],
    ['length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['an invalid length', 'HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n'],
    ['bare line feeds', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: value\r\n\r\n'],
    ['a header with a NUL', 'HTTP/1.1 200 OK\r\nx: a\u0000b\r\n\r\n'],
  ])('answers with %s has the status of its status line, and loses its connection', async (_, answer) => {
    const [line = '', rest = ''] = answer.split(/(?<=\n)(.*)/s);
    const receivers = [
      await rawReceiver((socket) => socket.write(answer)),
      await rawReceiver((socket) => socket.write(line, () => setImmediate(() => socket.write(rest)))),
    ];
    for (const receiver of receivers)
      expect(await resultOf(receiver)).toMatchObject({ kind: 'answered', status: 200, body: '' });
  });

  it.each([
    ['204', 'content-length: 40'],
    ['204', 'transfer-encoding: chunked'],
    ['304', 'content-length: 40'],
  ])('answers %s with a body (%s) that comes late does not spoil the next post', async (status, header) => {
    const receiver = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 ${status} X\r\n${header}\r\n\r\n`);
      socket.on('data', () => socket.write('HTTP/1.1 500 Late\r\ncontent-length: 0\r\n\r\n'));
    });
    const client = localClient();
    for (let post = 0; post < 2; post += 1) {
      expect(await postTo(client, receiver.url())).toMatchObject({
        kind: 'answered',
        status: Number(status),
      });
    }
    await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
  });

  it.each([
    ['before the first byte', ''],
    ['in the status line', 'HTTP/1.1 200'],
    ['in the headers', 'HTTP/1.1 200 OK\r\nx: y\r\n'],
    ['after an interim response', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('closes %s fails', async (_when, answer) => {
    const result = await resultOf(await rawReceiver((socket) => socket.end(answer)));
    expect(result).toMatchObject({ kind: 'failed' });
    expect([closed.error, invalid.error]).toContain(result.kind === 'failed' ? result.error : '');
  });

  it('closes each connection after its answer uses a connection for each post, and does not fail', async () => {
    const receiver = await rawReceiver((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    );
    const client = localClient();
    for (let post = 0; post < 10; post += 1) {
      expect(await postTo(client, receiver.url())).toMatchObject({ kind: 'answered', status: 200 });
      await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
    }
  });

  it('answers before the request ignores that answer', async () => {
    const answer = 'HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n';
    const receiver = await rawReceiver((socket) => socket.write(answer + answer));
    const client = localClient();
    await postTo(client, receiver.url());
    await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
  });
});
