import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type ConnectionFailure, explainConnectionFailure } from 'aws-local/connection-failure.ts';

const TIMEOUT_MS = 30_000;

/** Headers of one connection (RFC 9110, 7.6.1), or of the length of what is sent: not of the message. */
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

/** The part of a delivery's request that is passed on. */
export interface PassedRequest {
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The exact bytes that were signed. */
  body: Buffer;
}

export interface PassingOptions {
  /** PEM of the authorities to trust; those of Node.js otherwise. */
  ca?: string[];
  /** Gives it up. */
  signal?: AbortSignal;
}

/** What came of passing a delivery on. */
export type PassedOn =
  | { kind: 'answered'; status: number }
  | ({ kind: 'failed' } & Pick<ConnectionFailure, 'reason' | 'advice'>);

/**
 * Posts a delivery's bytes and headers to another URL, so that its signature verifies there too. Redirects
 * are answers.
 */
export async function passOn(
  delivery: PassedRequest,
  url: URL,
  { ca, signal }: PassingOptions = {},
): Promise<PassedOn> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: headersToPass(delivery.headers),
      // A connection of its own: one that was kept may be one that the receiver, started again meanwhile, no
      // longer knows.
      agent: false,
      ca,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.end(delivery.body);
    const response = await promise;
    // What breaks after the status changes nothing any more.
    response.on('error', () => undefined).resume();
    return { kind: 'answered', status: response.statusCode ?? 502 };
  } catch (error) {
    return { kind: 'failed', ...explain(error) };
  }
}

/** The headers that belong to the message. */
function headersToPass(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name)));
}

function explain(error: unknown): Pick<ConnectionFailure, 'reason' | 'advice'> {
  if (!(error instanceof Error) || error.name !== 'AbortError') return explainConnectionFailure(error);
  return {
    reason: `no answer within ${TIMEOUT_MS / 1000} s`,
    advice: 'Answer first, and process the event afterwards.',
  };
}
