import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { DeadlineError, InterimResponsesError } from './failures.ts';

const MAX_HEADER_BYTES = 16 * 1024;

/** Far more than any server needs; without a limit a receiver could keep a whole core busy until the deadline. */
const MAX_INTERIM_RESPONSES = 20;

/** What the body of an answer that nobody reads may cost to keep its connection for the next request. */
const DRAIN_BYTES = 16 * 1024;
const DRAIN_MS = 500;

/**
 * A request that is yet to be ended. The URL must have passed the receiver rule, and the agent must guard the addresses of names.
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
export function deadlineIn(timeoutMs: number): Deadline {
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
export function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
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
  // Not until the response ends but until the request closes: a receiver that answers early may never read the rest.
  const timer = setTimeout(() => outgoing.destroy(), DRAIN_MS).unref();
  outgoing.once('close', () => clearTimeout(timer));
}
