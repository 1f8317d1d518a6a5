import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { LocalRunError } from 'aws-local/errors.ts';
import { type Verification, verifySignature } from './signature.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/**
 * Longer than any sender keeps an idle connection, so that it is never this side that closes one just used
 * again.
 */
const KEEP_ALIVE_MS = 60_000;

/** One request as it came. */
export interface ReceivedDelivery {
  receivedAt: Date;
  method: string;
  path: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The exact bytes that were signed. */
  body: Buffer;
  verification: Verification;
}

/** What the receiver answers. */
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
  /** Any free one when absent. */
  port?: number;
  /**
   * The endpoint's signing secret; deliveries are not verified without. A promise delays early deliveries
   * until it resolves: the secret comes with the answer to the registration, which a delivery may overtake.
   */
  secret?: string | Promise<string>;
  /** Called once for each, before the answer. */
  onDelivery?(delivery: ReceivedDelivery): void;
  /** Default: 200 at once. */
  respond?(delivery: ReceivedDelivery): Answer | Promise<Answer>;
  /** Called when the answer is out, or with undefined when the sender hung up before. */
  onAnswered?(delivery: ReceivedDelivery, answer: Answer | undefined): void;
}

/** A webhook receiver on this machine. */
export interface Receiver {
  /** `https://localhost:PORT` */
  url: string;
  port: number;
  /** Ends at once, open connections included. */
  stop(): Promise<void>;
}

/**
 * Listens on 127.0.0.1.
 * @throws LocalRunError when the port is taken
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
    verification: verifySignature(await options.secret, body, headers),
  };
  options.onDelivery?.(delivery);
  const answer = await Promise.race([decide(delivery, options), hangUp(response)]);
  if (answer !== undefined) response.writeHead(answer.status, answer.headers).end(answer.body);
  options.onAnswered?.(delivery, answer);
}

async function decide(delivery: ReceivedDelivery, options: ReceiverOptions): Promise<Answer> {
  return (await options.respond?.(delivery)) ?? { status: 200 };
}

/** Kept when the connection ends, which before the answer means that the sender did not wait for it. */
async function hangUp(response: ServerResponse): Promise<undefined> {
  if (!response.destroyed) await once(response, 'close');
}

/** @returns undefined when it is longer than anything the service sends */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Destroying the request would end the connection before the answer to it.
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
      throw new LocalRunError(`Port ${port} is taken: choose another with --port.`);
    if (error.code === 'EACCES')
      throw new LocalRunError(`Port ${port} needs more rights: choose one from 1024 up.`);
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
