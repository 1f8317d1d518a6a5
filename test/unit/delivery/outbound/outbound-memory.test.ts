import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ReceiverAgent } from '../../../../functions/delivery/outbound/agent.ts';
import { casesOf } from '../../../support/cases.ts';
import { localClient, postTo, pour, type Receiver, rawReceiver } from './receivers.ts';

const MIB = 1024 * 1024;
const POSTS = casesOf(20, 100);
const AT_ONCE = 20;

/**
 * The limit of what one connection reads: the kept or drained bytes, and as much again as Node reads at once.
 */
const MAX_READ = 256 * 1024;

const OK = 'HTTP/1.1 200 OK\r\n';
const ERROR = 'HTTP/1.1 500 Internal Server Error\r\n';
const filler = 'x'.repeat(64 * 1024);

/** Ten megabytes of zeros in ten kilobytes, repeatedly. */
const bomb = gzipSync(Buffer.alloc(10 * MIB));

const answers: readonly (readonly [what: string, answer: (socket: Socket) => void, outcome: object])[] = [
  ['a body without end', (socket) => pourAfter(socket, `${ERROR}\r\n`, filler), { status: 500 }],
  ['a body without end to a success', (socket) => pourAfter(socket, `${OK}\r\n`, filler), { status: 200 }],
  [
    'a chunk without end',
    (socket) => pourAfter(socket, `${ERROR}transfer-encoding: chunked\r\n\r\nffffffff\r\n`, filler),
    { status: 500 },
  ],
  [
    'a gzip bomb without end',
    (socket) => pourAfter(socket, `${ERROR}content-encoding: gzip\r\n\r\n`, bomb),
    { status: 500 },
  ],
  [
    'one header without end',
    (socket) => pourAfter(socket, `${OK}x: `, filler),
    { error: 'response headers are too large' },
  ],
  [
    'headers without end',
    (socket) => pourAfter(socket, OK, `x-filler: ${'y'.repeat(1000)}\r\n`.repeat(64)),
    { error: 'response headers are too large' },
  ],
  [
    'interim responses without end',
    (socket) => pour(socket, `HTTP/1.1 103 Early Hints\r\nlink: ${'y'.repeat(10_000)}\r\n\r\n`.repeat(6)),
    { error: 'too many interim (1xx) responses' },
  ],
  [
    'answers without end',
    (socket) => pour(socket, `${ERROR}content-length: 1000\r\n\r\n${'x'.repeat(1000)}`.repeat(64)),
    { status: 500 },
  ],
];

function pourAfter(socket: Socket, head: string, chunk: string | Uint8Array): void {
  socket.write(head);
  pour(socket, chunk);
}

/** The connections of all clients from now on; each has its count of read bytes, also when it is closed. */
function connections(): Socket[] {
  const opened: Socket[] = [];
  const original = ReceiverAgent.prototype.createConnection;
  const spy = vi.spyOn(ReceiverAgent.prototype, 'createConnection');
  spy.mockImplementation(function record(this: ReceiverAgent, ...args): Duplex | null | undefined {
    const socket = original.apply(this, args);
    if (socket && 'bytesRead' in socket) opened.push(socket as Socket);
    return socket;
  });
  onTestFinished(() => spy.mockRestore());
  return opened;
}

/** Bytes in use after garbage collection. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('this engine does not let its memory be collected');
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function postMany(receiver: Receiver, outcome: object, count: number): Promise<void> {
  const client = localClient();
  for (let done = 0; done < count; done += AT_ONCE) {
    const posts = Array.from({ length: AT_ONCE }, () => postTo(client, receiver.url()));
    for (const result of await Promise.all(posts)) {
      expect(result).toMatchObject(outcome);
      if (result.kind === 'answered') expect(Buffer.byteLength(result.body)).toBeLessThanOrEqual(1024);
    }
  }
  await until('the receiver to have no connection', () => receiver.open.size === 0, 25_000);
}

describe('a client keeps memory flat when a receiver sends', () => {
  it.each(answers)('%s', async (_what, answer, outcome) => {
    const receiver = await rawReceiver(answer);
    // Creates what is created once, such as buffers and compiled code, before the measurement.
    await postMany(receiver, outcome, AT_ONCE);
    const before = bytesInUse();

    const opened = connections();
    await postMany(receiver, outcome, POSTS);
    expect(opened.length).toBeGreaterThanOrEqual(POSTS);
    for (const socket of opened) expect(socket.bytesRead).toBeLessThan(MAX_READ);
    // Far less than one of these receivers would send in a second.
    expect(bytesInUse() - before).toBeLessThan(30 * MIB);
  });
});
