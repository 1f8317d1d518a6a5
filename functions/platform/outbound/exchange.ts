import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { DeadlineError, describeFailure, InterimResponsesError } from './failures.ts';

const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Far more than any server needs; without a limit a receiver could keep a whole core busy until the deadline.
 */
const MAX_INTERIM_RESPONSES = 20;

/** What the body of an answer that nobody reads may cost to keep its connection for the next request. */
const DRAIN_BYTES = 16 * 1024;
const DRAIN_MS = 500;

/**
 * A request that is yet to be ended. The URL must have passed the receiver rule, and the agent must guard the
 * addresses of names.
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
    path: url.pathname + url.search,
    // An address has no name that TLS could indicate; its certificate is compared with the address.
    servername: isIP(host) ? '' : host,
    headers,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  });
}

export interface Deadline {
  /** Rejects with a {@link DeadlineError}. */
  passed: Promise<never>;
  /** Has a request destroyed when the time is over, in place of the one before. */
  over(outgoing: ClientRequest): void;
  cancel(): void;
}

/** Destroying a request is not enough: while it waits for a free socket, that makes no sound. */
export function startDeadline(timeoutMs: number): Deadline {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  // Whoever waits is told; that nobody waits at the moment is no failure.
  passed.catch(() => undefined);
  let current: ClientRequest | undefined;
  const timer = setTimeout(() => {
    reject(new DeadlineError());
    current?.destroy();
  }, timeoutMs);
  return {
    passed,
    over: (outgoing) => {
      current = outgoing;
    },
    cancel: () => clearTimeout(timer),
  };
}

/** The final response as soon as its headers are complete, body unread. */
export function awaitResponse(outgoing: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let interim = 0;

  outgoing.on('information', () => {
    interim += 1;
    if (interim > MAX_INTERIM_RESPONSES) outgoing.destroy(new InterimResponsesError());
  });
  outgoing.on('response', (response) => {
    // Listened to from the first moment: a connection can break in the same breath as the headers arrive.
    response.on('error', () => outgoing.destroy());
    resolve(response);
  });
  // An unasked-for switch of protocols (101) is an answer, with a body that never ends.
  outgoing.on('upgrade', (response, socket) => {
    resolve(response);
    socket.destroy();
  });
  outgoing.on('error', reject);
  outgoing.on('close', () => reject(new Error('closed without a response')));
  return promise;
}

/** Lets a short body end, so that its connection can be used again; gives up any other. */
export function drain(outgoing: ClientRequest, response: IncomingMessage): void {
  let left = DRAIN_BYTES;
  response.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) outgoing.destroy();
  });
  // Not until the response ends but until the request closes: a receiver that answers early may never read
  // the rest.
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
      /** Until the headers were there. */
      durationMs: number;
      /** The beginning of the body, at most 1 KiB of UTF-8; empty for a 2xx, whose body nobody waits for. */
      body: string;
    }
  | {
      kind: 'failed';
      /** One line of at most 300 characters that its receiver's owner may read. */
      error: string;
      durationMs: number;
    };

export interface ExchangeOptions {
  agent: Agent;
  /** One deadline over name resolution, connection, TLS, request and response headers. */
  timeoutMs: number;
  now: () => number;
  /** Called when the whole request was handed to the network, unless the answer was there before. */
  onWritten?: (() => void) | undefined;
}

/**
 * Sends one POST and tells what came of it. Redirects are answers, never followed. Whatever the receiver
 * does, the result is there by the deadline, and no more is held in memory than headers and an excerpt.
 *
 * The URL must have passed the receiver rule, and the agent must guard the addresses of names.
 *
 * @throws TypeError for headers that HTTP cannot carry
 */
export async function exchange(request: OutboundRequest, options: ExchangeOptions): Promise<OutboundResult> {
  const { agent, timeoutMs, now, onWritten = () => undefined } = options;
  const startedAt = now();
  const outgoing = open({ method: 'POST', url: request.url, headers: completeHeaders(request) }, agent);
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
    return { kind: 'answered', status, durationMs, body: await readBody(outgoing, response, status) };
  } catch (error) {
    outgoing.destroy();
    return { kind: 'failed', error: describeFailure(error, timeoutMs), durationMs: now() - startedAt };
  } finally {
    deadline.cancel();
  }
}

/** What a receiver gets, but for the fields that concern the connection alone. */
export const completeHeaders = ({ url, headers, body }: OutboundRequest): Record<string, string> => ({
  host: url.host,
  ...headers,
  'accept-encoding': 'identity',
  'content-length': String(body.byteLength),
});

async function readBody(outgoing: ClientRequest, response: IncomingMessage, status: number): Promise<string> {
  // What follows a switch of protocols is no body.
  if (status < 200) return '';
  if (status < 300) {
    drain(outgoing, response);
    return '';
  }
  const body = await readExcerpt(response);
  // Without effect on a body that ended by itself: its connection is in the pool already.
  outgoing.destroy();
  return body;
}

/** What is kept of the body of an answer that is not a success. */
const EXCERPT_BYTES = 1024;

/**
 * Reads the beginning of a body and abandons the rest. Ends at the latest when the response is destroyed, and
 * never rejects: an answer whose body breaks off is still that answer.
 *
 * Nothing is decompressed: a small compressed body can grow without bound.
 *
 * @returns text of at most {@link EXCERPT_BYTES} in UTF-8; bytes that are not UTF-8 become U+FFFD
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
    return decodeExcerpt(chunks);
  }
  return decodeExcerpt(chunks);
}

/** Cuts twice, at a character each time: replacement characters take more bytes than what they stand for. */
function decodeExcerpt(chunks: Uint8Array[]): string {
  const text = decodeWhole(Buffer.concat(chunks));
  return decodeWhole(Buffer.from(text).subarray(0, EXCERPT_BYTES));
}

/**
 * Leaves out a character that is cut off at the end, as `stream` makes the decoder wait for the rest of it.
 */
function decodeWhole(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
