import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { AttemptError } from '../delivery.ts';
import { DeadlineError, describeFailure, InterimResponsesError, isHeaderFault } from './agent.ts';

const MAX_HEADER_BYTES = 16 * 1024;

/**
 * More than any server needs. Without a limit, interim responses could keep a core busy until the deadline.
 */
const MAX_INTERIM_RESPONSES = 20;

/** Maximum size of an unread response body to keep its connection. */
const DRAIN_BYTES = 16 * 1024;
const DRAIN_MS = 500;

/**
 * Opens a request without ending it. The URL must have passed the receiver rule, and the agent must check
 * addresses.
 * @throws TypeError for headers that HTTP cannot carry
 */
export function open(
  { method, url, headers }: { method: 'GET' | 'POST'; url: URL; headers: Record<string, string> },
  agent: Agent,
): ClientRequest {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return httpsRequest({
    agent,
    method,
    host,
    port: url.port || 443,
    // `search` lacks an empty query's question mark.
    path: url.href.slice(url.origin.length),
    // TLS has no server name for an address; its certificate is compared with the address.
    servername: isIP(host) ? '' : host,
    headers,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  });
}

/** `passed` rejects by itself: destroying a request that waits for a free socket emits no event. */
export function startDeadline(timeoutMs: number) {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  // A rejection without a waiting caller is no error.
  passed.catch(() => undefined);
  let current: ClientRequest | undefined;
  const timer = setTimeout(() => {
    reject(new DeadlineError());
    current?.destroy();
  }, timeoutMs);
  return {
    passed,
    /** Destroys this request at the deadline, instead of the previous one. */
    over: (outgoing: ClientRequest) => {
      current = outgoing;
    },
    cancel: () => clearTimeout(timer),
  };
}

/** Resolves with the final response when its headers are complete, body unread. */
export function awaitResponse(outgoing: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let interim = 0;

  outgoing.on('information', () => {
    interim += 1;
    if (interim > MAX_INTERIM_RESPONSES) outgoing.destroy(new InterimResponsesError());
  });
  outgoing.on('response', (response) => {
    // Added at once: a connection can break while the headers arrive.
    response.on('error', () => outgoing.destroy());
    if (hasUnreadBody(response)) outgoing.shouldKeepAlive = false;
    resolve(response);
  });
  // An unrequested 101 is a response with an endless body.
  outgoing.on('upgrade', (response, socket) => {
    resolve(response);
    socket.destroy();
  });
  outgoing.on('error', reject);
  outgoing.on('close', () => reject(new Error('closed without a response')));
  return promise;
}

/**
 * Whether a response announces a body that its status cannot have. Node reads none: sent late, it would be
 * taken for the response to the next request of the connection.
 */
function hasUnreadBody({ statusCode, headers }: IncomingMessage): boolean {
  if (statusCode !== 204 && statusCode !== 304) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/** A final status line. */
const STATUS_LINE = /^HTTP\/1\.[01] ([2-5]\d\d)(?: [^\r\n]*)?\r?\n/;
const STATUS_LINE_CHARACTERS = 200;

/** Remembers the beginning of the response, for one whose headers Node's parser refuses. */
function keepStatusLine(outgoing: ClientRequest): () => number | undefined {
  let head = '';
  outgoing.once('socket', (socket) => {
    const keep = (chunk: Buffer) => {
      if (head.length < STATUS_LINE_CHARACTERS) head += chunk.toString('latin1', 0, STATUS_LINE_CHARACTERS);
    };
    // Before the parser, which may fail at this chunk.
    socket.prependListener('data', keep);
    outgoing.once('close', () => socket.off('data', keep));
  });
  return () => {
    const status = STATUS_LINE.exec(head)?.[1];
    return status === undefined ? undefined : Number(status);
  };
}

/** Reads a short body to its end, so that its connection can be reused; destroys any other. */
export function drain(outgoing: ClientRequest, response: IncomingMessage): void {
  let left = DRAIN_BYTES;
  response.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) outgoing.destroy();
  });
  // Until the request closes, not until the response ends: a receiver that answers early may never read the
  // rest.
  const timer = setTimeout(() => outgoing.destroy(), DRAIN_MS).unref();
  outgoing.once('close', () => clearTimeout(timer));
}

export interface OutboundRequest {
  url: URL;
  headers: Record<string, string>;
  body: Uint8Array;
}

export type OutboundResult =
  | {
      kind: 'answered';
      status: number;
      /** Until the headers were complete. */
      durationMs: number;
      /** Beginning of the body, at most 1 KiB of UTF-8; empty for a 2xx. */
      body: string;
      retryAfter?: string | undefined;
    }
  | ({ kind: 'failed'; durationMs: number } & AttemptError);

export interface ExchangeOptions {
  agent: Agent;
  /** One deadline for name resolution, connection, TLS, request and response headers. */
  timeoutMs: number;
  now: () => number;
  /** Called when the whole request was sent, unless the response came first. */
  onWritten?: (() => void) | undefined;
}

/**
 * Sends one POST and returns the result by the deadline. Redirects are responses and are not followed. Memory
 * holds only headers and an excerpt.
 * The URL must have passed the receiver rule, and the agent must check addresses.
 * @throws TypeError for headers that HTTP cannot carry
 */
export async function exchange(request: OutboundRequest, options: ExchangeOptions): Promise<OutboundResult> {
  const { agent, timeoutMs, now, onWritten = () => undefined } = options;
  const startedAt = now();
  const outgoing = open({ method: 'POST', url: request.url, headers: completeHeaders(request) }, agent);
  const statusLine = keepStatusLine(outgoing);
  const deadline = startDeadline(timeoutMs);
  deadline.over(outgoing);

  try {
    const answer = awaitResponse(outgoing);
    outgoing.once('finish', onWritten);
    outgoing.end(request.body);
    const response = await Promise.race([answer, deadline.passed]);
    outgoing.off('finish', onWritten);
    const durationMs = now() - startedAt;
    const status = response.statusCode ?? 0;
    const retryAfter = response.headers['retry-after'];
    const body = await readBody(outgoing, response, status);
    return { kind: 'answered', status, durationMs, body, retryAfter };
  } catch (error) {
    outgoing.destroy();
    // The receiver has answered: folded or repeated headers and bare line feeds do not change its status.
    const status = isHeaderFault(error) ? statusLine() : undefined;
    if (status !== undefined) return { kind: 'answered', status, durationMs: now() - startedAt, body: '' };
    return { kind: 'failed', ...describeFailure(error, timeoutMs), durationMs: now() - startedAt };
  } finally {
    deadline.cancel();
  }
}

/** Headers that a receiver gets, without those of the connection. */
export const completeHeaders = ({ url, headers, body }: OutboundRequest): Record<string, string> => ({
  host: url.host,
  ...headers,
  'accept-encoding': 'identity',
  'content-length': String(body.byteLength),
});

async function readBody(outgoing: ClientRequest, response: IncomingMessage, status: number): Promise<string> {
  // A switch of protocols has no body.
  if (status < 200) return '';
  if (status < 300) {
    drain(outgoing, response);
    return '';
  }
  const body = await readExcerpt(response);
  // No effect on a complete body: its connection is in the pool already.
  outgoing.destroy();
  return body;
}

/** Bytes kept of the body of a failed attempt. */
const EXCERPT_BYTES = 1024;

/**
 * Reads the beginning of a body and abandons the rest. Never rejects, and ends when the response is
 * destroyed: a response with an interrupted body still counts.
 * Nothing is decompressed: a small compressed body can grow without bound.
 * @returns at most {@link EXCERPT_BYTES} of UTF-8; other bytes become U+FFFD
 */
async function readExcerpt(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      if (!(chunk instanceof Uint8Array)) continue;
      chunks.push(chunk.subarray(0, EXCERPT_BYTES - size));
      size += chunk.length;
      if (size >= EXCERPT_BYTES) break;
    }
  } catch {
    // What was read until then is the excerpt.
  }
  // Cut twice at a character: replacement characters take more bytes than what they replace.
  const text = decodeWhole(Buffer.concat(chunks));
  return decodeWhole(Buffer.from(text).subarray(0, EXCERPT_BYTES));
}

/** Drops an incomplete last character. */
const decodeWhole = (bytes: Uint8Array): string => new TextDecoder().decode(bytes, { stream: true });
