import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import { readExcerpt } from './body.ts';
import { describeFailure } from './failures.ts';
import { deadlineIn, drain, open, responseTo } from './request.ts';

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
 * Sends one POST and tells what came of it. Redirects are answers, never followed. Whatever the receiver does, the
 * result is there by the deadline, and no more is held in memory than headers and an excerpt.
 *
 * The URL must have passed the receiver rule, and the agent must guard the addresses of names.
 *
 * @throws TypeError for headers that HTTP cannot carry
 */
export async function exchange(request: OutboundRequest, options: ExchangeOptions): Promise<OutboundResult> {
  const { agent, timeoutMs, now, onWritten = () => undefined } = options;
  const startedAt = now();
  const outgoing = open({ method: 'POST', url: request.url, headers: headersOnTheWire(request) }, agent);
  const deadline = deadlineIn(timeoutMs);
  deadline.over(outgoing);

  try {
    const answer = responseTo(outgoing);
    outgoing.once('finish', onWritten);
    outgoing.end(request.body);
    const response = await Promise.race([answer, deadline.passed]);
    outgoing.off('finish', onWritten);
    const durationMs = now() - startedAt;
    const status = response.statusCode ?? 0;
    return { kind: 'answered', status, durationMs, body: await bodyOf(outgoing, response, status) };
  } catch (error) {
    outgoing.destroy();
    return { kind: 'failed', error: describeFailure(error, timeoutMs), durationMs: now() - startedAt };
  } finally {
    deadline.cancel();
  }
}

/** What a receiver gets, but for the fields that concern the connection alone. */
export const headersOnTheWire = ({ url, headers, body }: OutboundRequest): Record<string, string> => ({
  host: url.host,
  ...headers,
  'accept-encoding': 'identity',
  'content-length': String(body.byteLength),
});

async function bodyOf(outgoing: ClientRequest, response: IncomingMessage, status: number): Promise<string> {
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
