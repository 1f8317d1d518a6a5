import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** What a name server says of a name: addresses as 4 or 16 bytes, or that it does not exist, or nothing at all. */
export interface Zone {
  [name: string]: { A?: Answer; AAAA?: Answer };
}
type Answer = number[][] | 'no such name' | 'silence';

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const NO_SUCH_NAME = 3;

/** A DNS server on a free loopback port, closed when the test is over; `queries` are like `A receiver.example.com`. */
export async function nameServer(zone: Zone): Promise<{ address: string; queries: string[] }> {
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, question } = parse(query);
    const kind = TYPES[type] ?? 'A';
    queries.push(`${kind} ${name}`);
    const answer = zone[name] ? (zone[name][kind] ?? []) : 'no such name';
    if (answer !== 'silence') socket.send(respond(query, question, type, answer), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(async () => {
    await new Promise<void>((closed) => socket.close(() => closed()));
  });
  return { address: `127.0.0.1:${socket.address().port}`, queries };
}

/** Takes the one question out of a query (RFC 1035, section 4.1). */
function parse(query: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  // Names come back in whatever case they were asked, and some resolvers vary it on purpose.
  const name = labels.join('.').toLowerCase();
  return { name, type: query.readUInt16BE(at + 1), question: query.subarray(12, at + 5) };
}

function respond(query: Buffer, question: Buffer, type: number, answer: number[][] | 'no such name'): Buffer {
  const records = answer === 'no such name' ? [] : answer;
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (answer === 'no such name' ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);

  const answers = records.map((address) => {
    const record = Buffer.alloc(12);
    // The name: a pointer to the question.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(address.length, 10);
    return Buffer.concat([record, Buffer.from(address)]);
  });
  return Buffer.concat([header, question, ...answers]);
}
