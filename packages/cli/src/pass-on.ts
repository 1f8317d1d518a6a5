import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type ConnectionFailure, explainConnectionFailure } from 'terminal/connection-failure.ts';

const TIMEOUT_MS = 30_000;

/** Headers of the connection (RFC 9110, 7.6.1) or the length, not of the message. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** Forwarded part of a delivery's request. */
export interface PassedRequest {
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The exact signed bytes. */
  body: Buffer;
}

export interface PassingOptions {
  /** PEM of trusted authorities; default: those of Node.js. */
  ca?: string[];
  signal?: AbortSignal;
  /** For an answer; default: 30 s. */
  timeoutMs?: number;
  /** Writes and ends the request; default: at once. */
  write?(request: ClientRequest, body: Buffer): void;
}

export type PassedOn =
  | { kind: 'answered'; status: number }
  | ({ kind: 'failed' } & Pick<ConnectionFailure, 'reason' | 'advice'>);

/**
 * Posts a delivery's bytes and headers to another URL, where its signature still verifies. Redirects count as
 * responses.
 */
export async function passOn(
  delivery: PassedRequest,
  url: URL,
  { ca, signal, timeoutMs = TIMEOUT_MS, write = writeAtOnce }: PassingOptions = {},
): Promise<PassedOn> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: headersToPass(delivery.headers),
      // A new connection: a restarted receiver no longer knows a kept-alive one.
      agent: false,
      ca,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    request.on('response', resolve);
    request.on('error', reject);
    write(request, delivery.body);
    const response = await promise;
    // Errors after the status do not matter.
    response.on('error', () => undefined).resume();
    return { kind: 'answered', status: response.statusCode ?? 502 };
  } catch (error) {
    return { kind: 'failed', ...explain(error, timeoutMs) };
  }
}

const writeAtOnce = (request: ClientRequest, body: Buffer): void => {
  request.end(body);
};

/** Headers that belong to the message. */
function headersToPass(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name)));
}

function explain(error: unknown, timeoutMs: number): Pick<ConnectionFailure, 'reason' | 'advice'> {
  if (!(error instanceof Error) || error.name !== 'AbortError') return explainConnectionFailure(error);
  return {
    reason: `no answer within ${timeoutMs / 1000} s`,
    advice: 'Answer first, and process the event afterwards.',
  };
}
