import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { UserError } from 'terminal/errors.ts';
import { type Verification, verifySignature } from './signature.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Longer than senders keep idle connections, so that this side never closes one in use. */
const KEEP_ALIVE_MS = 60_000;

export interface ReceivedDelivery {
  receivedAt: Date;
  method: string;
  path: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The exact signed bytes. */
  body: Buffer;
  verification: Verification;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface ReceiverOptions {
  /** PEM. */
  cert: string;
  /** PEM. */
  key: string;
  /** Default: any free port. */
  port?: number;
  /**
   * Signing secret; without one deliveries are not verified. A promise delays early deliveries, because a
   * delivery may overtake the registration's response with the secret.
   */
  secret?: string | Promise<string>;
  /** Called once per delivery, before the response. */
  onDelivery?(delivery: ReceivedDelivery): void;
  /** Default: 200 at once. */
  respond?(delivery: ReceivedDelivery): Answer | Promise<Answer>;
  /** Called after the response, or with undefined when the sender disconnected first. */
  onAnswered?(delivery: ReceivedDelivery, answer: Answer | undefined): void;
}

export interface Receiver {
  /** `https://localhost:PORT` */
  url: string;
  port: number;
  /** Stops at once and closes open connections. */
  stop(): Promise<void>;
}

/**
 * Listens on 127.0.0.1.
 * @throws UserError when the port is taken
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const server = createServer({ cert: options.cert, key: options.key, keepAliveTimeout: KEEP_ALIVE_MS });
  server.on('request', (request, response) => {
    serve(request, response, options).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  const port = await listen(server, options.port ?? 0);
  return { url: `https://localhost:${port}`, port, stop: () => close(server) };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReceiverOptions,
): Promise<void> {
  const receivedAt = new Date();
  const body = await readBody(request);
  if (body === undefined) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  const headers = singleHeaders(request);
  const delivery: ReceivedDelivery = {
    receivedAt,
    method: request.method ?? '',
    path: request.url ?? '',
    headers,
    body,
    verification: await verifySignature(await options.secret, body, headers),
  };
  options.onDelivery?.(delivery);
  const answer = await Promise.race([decide(delivery, options), hangUp(response)]);
  if (answer !== undefined) response.writeHead(answer.status, answer.headers).end(answer.body);
  options.onAnswered?.(delivery, answer);
}

async function decide(delivery: ReceivedDelivery, options: ReceiverOptions): Promise<Answer> {
  return (await options.respond?.(delivery)) ?? { status: 200 };
}

/** Resolves when the connection ends, which before the response means that the sender did not wait. */
async function hangUp(response: ServerResponse): Promise<undefined> {
  if (!response.destroyed) await once(response, 'close');
}

/** @returns undefined when it is larger than any delivery */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Destroying the request would end the connection before the response.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function singleHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']),
  );
}

async function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host: '127.0.0.1' }, resolve);
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    if (error.code === 'EADDRINUSE')
      throw new UserError(`Port ${port} is taken: choose another with --port.`);
    if (error.code === 'EACCES')
      throw new UserError(`Port ${port} needs more rights: choose one from 1024 up.`);
    throw error;
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  return address.port;
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
