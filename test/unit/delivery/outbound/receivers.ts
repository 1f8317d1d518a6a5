import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import { nameServerResolver, ReceiverAgent } from '../../../../functions/delivery/outbound/agent.ts';
import {
  type ContentClient,
  contentClient,
  type FetchResult,
  type OutboundClientOptions,
  type OutboundResult,
  type ReceiverClient,
  receiverClient,
} from '../../../../functions/delivery/outbound/client.ts';
import type { ReceiverPolicy } from '../../../../functions/receivers/receiver-url.ts';
import { testAuthority } from './certificates.ts';
import { observedConnections } from './connections-observed.ts';
import { nameServer, type Zone } from './name-server.ts';
import { aPermit } from './permit.ts';

/** Trusted by {@link localClient}. */
export const authority = await testAuthority();
export const certificate = await authority.issue({
  names: ['localhost', 'receiver.example.com', '*.receiver.example.com'],
  addresses: ['127.0.0.1', '::1'],
});

/** A server on a free loopback port, closed with all its connections when the test is over. */
export interface Receiver {
  port: number;
  /** TCP connections so far, used or not. */
  connections: number;
  open: Set<Socket>;
  url(host?: string, path?: string): URL;
}

export function httpsReceiver(listener: RequestListener, tls: TlsOptions = certificate): Promise<Receiver> {
  return listening(createHttpsServer(tls, listener));
}

/**
 * A receiver that speaks TLS and then runs the test's code, once the first bytes of a request have arrived.
 */
export function rawReceiver(
  onRequest: (socket: Socket, head: Buffer) => void,
  tls: TlsOptions = certificate,
): Promise<Receiver> {
  const server = createTlsServer(tls, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (head) => onRequest(socket, head));
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return listening(server);
}

export function tcpReceiver(onConnection: (socket: Socket) => void): Promise<Receiver> {
  return listening(createTcpServer(onConnection));
}

async function listening(server: Server): Promise<Receiver> {
  const open = new Set<Socket>();
  const receiver: Receiver = {
    port: 0,
    connections: 0,
    open,
    url: (host = 'localhost', path = '/hook') => new URL(`https://${host}:${receiver.port}${path}`),
  };
  server.on('connection', (socket: Socket) => {
    receiver.connections += 1;
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver listens on no port');
  receiver.port = address.port;

  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return receiver;
}

/**
 * A client as in the local run: loopback permitted, the test authority trusted, every name resolved to
 * 127.0.0.1.
 */
export const localClient = (options: Partial<OutboundClientOptions> = {}): OutboundClient =>
  aClient({
    policy: { loopback: 'allow' },
    resolve: async () => ['127.0.0.1'],
    ...options,
  });

export type OutboundClient = ReceiverClient & ContentClient;

/** Both clients as one, until the end of the test; the test authority is trusted. */
function aClient(
  options: Pick<OutboundClientOptions, 'policy'> & Partial<OutboundClientOptions>,
): OutboundClient {
  const all = { timeoutMs: 20_000, tls: { ca: authority.cert }, ...options };
  const [receivers, contents] = [receiverClient(all), contentClient(all)];
  const close = () => {
    receivers.close();
    contents.close();
  };
  onTestFinished(close);
  return { post: receivers.post, fetch: contents.fetch, close };
}

/** The agent alone, with a lookup that returns 127.0.0.1 unchecked. */
export function localAgent(policy: ReceiverPolicy = { loopback: 'allow' }): ReceiverAgent {
  const agent = new ReceiverAgent({
    policy,
    now: Date.now,
    ca: authority.cert,
    lookup: (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  onTestFinished(() => agent.destroy());
  return agent;
}

/** Posts a small body. */
export async function postTo(client: ReceiverClient, url: URL): Promise<OutboundResult> {
  const body = new TextEncoder().encode('{"hello":"wörld"}');
  return client.post({ url, headers: { 'content-type': 'application/json' }, body }, await aPermit());
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Gets a page of at most 1 MB. */
export async function fetchFrom(
  client: ContentClient,
  url: URL,
  headers: Record<string, string> = {},
  maxBytes = 1_000_000,
): Promise<FetchResult> {
  return client.fetch({ url, headers, maxBytes }, await aPermit());
}

/**
 * The client as deployed, which reaches no address of this machine, with the test's name server and
 * certificates; returns its connections as well.
 */
export async function guardedClient(zone: Zone, receiver: Receiver, now?: () => number) {
  const server = await nameServer(zone);
  const attempts = await observedConnections(receiver);
  const client = aClient({
    policy: { loopback: 'refuse' },
    resolve: nameServerResolver([server.address]),
    ...(now && { now }),
  });
  return { server, attempts, client };
}

/** Writes endlessly, as fast as the client reads. */
export function pour(socket: Socket, chunk: string | Uint8Array): void {
  const more = () => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** Writes one chunk after another, slowly and endlessly. */
export function drip(socket: Socket, piece: string | Uint8Array): void {
  const timer = setInterval(() => socket.write(piece), 5);
  socket.on('close', () => clearInterval(timer));
}
