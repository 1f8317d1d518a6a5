import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { onTestFinished } from 'vitest';

/**
 * The records of an answer as text: addresses of either family, regardless of the question, a name with a
 * final dot for a CNAME that the following records belong to, and `\# 7f0000` for malformed data of the
 * requested type.
 */
type Answer = readonly string[] | 'no such name' | 'server failure' | 'silence';

/** The records of a name. Read for each question, so that a test can change them at any time. */
export interface Records {
  A?: Answer;
  AAAA?: Answer;
}

/** The answers by name, and for every other name (`*`). */
export interface Zone {
  [name: string]: Records;
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 };
const NO_ERROR = 0;
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

/**
 * The size that current resolvers accept over UDP; anything longer is requested again over TCP (RFC 9715).
 */
const LONGEST_DATAGRAM = 1232;
const TRUNCATED = 0x0200;

export interface NameServer {
  address: string;
  /** Questions so far, like `A receiver.example.com`; one that was repeated over TCP is listed twice. */
  queries: string[];
}

/** A DNS server on a free loopback port, over UDP and TCP, closed at the end of the test. */
export async function nameServer(zone: Zone): Promise<NameServer> {
  const queries: string[] = [];
  const answered = (query: Buffer): Buffer | undefined => {
    const { name, type, question } = parse(query);
    const kind = type === TYPES.AAAA ? 'AAAA' : 'A';
    queries.push(`${kind} ${name}`);
    const records = zone[name] ?? zone['*'];
    const answer = records ? (records[kind] ?? []) : 'no such name';
    return answer === 'silence' ? undefined : respond(query, question, type, answer);
  };

  const { datagrams, port } = await bound((socket) => {
    // Tests need only one message for each connection.
    socket.once('data', (message) => {
      const response = answered(message.subarray(2));
      if (!response) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(response.length);
      socket.end(Buffer.concat([length, response]));
    });
    socket.on('error', () => socket.destroy());
  });
  datagrams.on('message', (query, from) => {
    const response = answered(query);
    if (response) datagrams.send(asDatagram(response, query), from.port, from.address);
  });
  return { address: `127.0.0.1:${port}`, queries };
}

/** The same port for both protocols: taken from TCP, and another one if it is in use for UDP. */
async function bound(
  onConnection: (socket: Socket) => void,
): Promise<{ datagrams: DatagramSocket; port: number }> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const server = createServer(onConnection).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const listens = server.address();
    const port = typeof listens === 'object' && listens ? listens.port : 0;
    const datagrams = createSocket('udp4').bind(port, '127.0.0.1');
    const isFree = await once(datagrams, 'listening').then(
      () => true,
      () => false,
    );
    onTestFinished(async () => {
      await new Promise((closed) => server.close(closed));
      if (isFree) await new Promise<void>((closed) => datagrams.close(() => closed()));
    });
    if (isFree) return { datagrams, port };
  }
  throw new Error('no port is free for both UDP and TCP');
}

/** Parses the only question of a query (RFC 1035, section 4.1). */
function parse(query: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  // The answer keeps the question's case, because some resolvers vary it on purpose.
  const name = labels.join('.').toLowerCase();
  return { name, type: query.readUInt16BE(at + 1), question: query.subarray(12, at + 5) };
}

function respond(query: Buffer, question: Buffer, type: number, answer: Exclude<Answer, 'silence'>): Buffer {
  const records = typeof answer === 'string' ? [] : answer;
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | responseCode(answer), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);

  // A pointer to the question, or to the CNAME that precedes the record.
  let owner = Buffer.from([0xc0, 0x0c]);
  const answers = records.map((text) => {
    const record = recordOf(text, type);
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(record.type, 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt16BE(record.data.length, 8);
    const whole = Buffer.concat([owner, fixed, record.data]);
    if (record.type === TYPES.CNAME) owner = record.data;
    return whole;
  });
  return Buffer.concat([header, question, ...answers]);
}

function responseCode(answer: Answer): number {
  if (answer === 'no such name') return NO_SUCH_NAME;
  return answer === 'server failure' ? SERVER_FAILURE : NO_ERROR;
}

function recordOf(text: string, asked: number): { type: number; data: Buffer<ArrayBuffer> } {
  if (text.startsWith('\\# ')) return { type: asked, data: Buffer.from(text.slice(3), 'hex') };
  if (text.endsWith('.')) {
    const labels = text.split('.').map((label) => [label.length, ...Buffer.from(label, 'latin1')]);
    return { type: TYPES.CNAME, data: Buffer.from(labels.flat()) };
  }
  return {
    type: text.includes(':') ? TYPES.AAAA : TYPES.A,
    data: Buffer.from(ipaddr.parse(text).toByteArray()),
  };
}

function asDatagram(response: Buffer, query: Buffer): Buffer {
  if (response.length <= LONGEST_DATAGRAM) return response;
  const { question } = parse(query);
  const cut = Buffer.from(response.subarray(0, 12 + question.length));
  cut.writeUInt16BE(cut.readUInt16BE(2) | TRUNCATED, 2);
  cut.writeUInt16BE(0, 6);
  return cut;
}
