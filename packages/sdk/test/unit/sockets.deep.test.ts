import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/index.ts';

const CALLS = 10_000;
/** Clients that call at the same time, each with connections that the others' faults do not end. */
const CLIENTS = 8;

const FAULTS = ['429', '503', 'reset before the effect', 'reset after it', 'cut response'] as const;
type Fault = (typeof FAULTS)[number] | 'no response in time' | 'none';

/** The timeout of a try. Responses that exceed it are few, because their time is real. */
const TIMEOUT_MS = 10_000;

/** What the service did, and what it asked of its clients. */
const effects = new Map<string, { call: number; count: number }>();
const injected = new Map<Fault, number>();
/** When the next request with a key is due. */
const due = new Map<string, number>();
const wrongWaits: string[] = [];
/** Virtual time of each client in milliseconds, which passes while it waits. */
const clocks = new Map<string, number>();

/** A generator of numbers below 1, the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
const random = createRandom(1);

/** Half of all requests fail, in one of the five ways; one of 2,000 gets no response in time. */
const chooseFault = (): Fault =>
  random() < 1 / 2_000 ? 'no response in time' : (FAULTS[Math.floor(random() * 2 * FAULTS.length)] ?? 'none');

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString();
  const key = String(request.headers['idempotency-key']);
  const now = clocks.get(String(request.headers.authorization)) ?? Number.NaN;
  if ((due.get(key) ?? now) !== now) wrongWaits.push(`${key} at ${now} instead of ${due.get(key)}`);
  due.delete(key);
  const fault = chooseFault();
  injected.set(fault, (injected.get(fault) ?? 0) + 1);
  if (fault === '429' || fault === '503') {
    const seconds = 1 + Math.floor(random() * 60);
    due.set(key, now + seconds * 1000);
    const headers = { 'content-type': 'application/json', 'retry-after': String(seconds) };
    response.writeHead(Number(fault), headers).end('{"error":{"type":"RATE_LIMITED","message":"Later."}}');
    return;
  }
  if (fault === 'reset before the effect') return void request.socket.resetAndDestroy();
  // The idempotency record of the service.
  const { call }: { call: number } = JSON.parse(body);
  if (!effects.has(key)) effects.set(key, { call, count: 0 });
  const effect = effects.get(key) ?? { call, count: 0 };
  effect.count += 1;
  if (fault === 'no response in time') return;
  if (fault === 'reset after it') return void request.socket.resetAndDestroy();
  const answer = JSON.stringify({ success: true, data: { id: `tkt_${effect.call}` } });
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': answer.length });
  if (fault === 'none') return void response.end(answer);
  response.write(answer.slice(0, 9), () => request.socket.destroy());
}

const server = createServer((request, response) => void serve(request, response));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function callAll(name: string, from: number): Promise<string[]> {
  const authorization = `Bearer ${name}`;
  clocks.set(authorization, 0);
  const client = createClient({
    apiKey: name,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    maxRetries: 100,
    timeoutMs: TIMEOUT_MS,
    sleep: async (ms) => {
      clocks.set(authorization, (clocks.get(authorization) ?? 0) + ms);
    },
  });
  const ids: string[] = [];
  for (let call = from; call < CALLS; call += CLIENTS) {
    const { id } = await client.tickets.create({ call } as unknown as Parameters<
      typeof client.tickets.create
    >[0]);
    ids.push(id);
  }
  return ids;
}

describe('a client of a service that fails', () => {
  it('makes 10,000 effects once each over sockets, and waits as long as it is asked to', async () => {
    const ids = await Promise.all(
      Array.from({ length: CLIENTS }, (_, index) => callAll(`ck_live_${index}`, index)),
    );
    const answered = ids.flat().map((id) => Number(id.slice(4)));
    expect(answered.toSorted((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, call) => call));
    // As many keys as calls: no call took effect under a second one.
    const made = [...effects.values()].map(({ call }) => call);
    expect(made.toSorted((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, call) => call));
    expect(wrongWaits).toEqual([]);
    for (const fault of FAULTS) expect(injected.get(fault), fault).toBeGreaterThan(CALLS / 20);
    expect(injected.get('no response in time')).toBeGreaterThan(0);
  }, 300_000);
});
