import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
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

/** What is kept of the body of an answer that is not a success. */
const EXCERPT_BYTES = 1024;

/**
 * Reads the beginning of a body and abandons the rest. Ends at the latest when the response is destroyed, and never
 * rejects: an answer whose body breaks off is still that answer.
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
    return excerptOf(chunks);
  }
  return excerptOf(chunks);
}

/** Cuts twice, at a character each time: replacement characters take more bytes than what they stand for. */
function excerptOf(chunks: Uint8Array[]): string {
  const text = decodeWhole(Buffer.concat(chunks));
  return decodeWhole(Buffer.from(text).subarray(0, EXCERPT_BYTES));
}

/** Leaves out a character that is cut off at the end, as `stream` makes the decoder wait for the rest of it. */
function decodeWhole(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
