import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ReceivedDelivery } from '../receiver/receiver.ts';

const TIMEOUT_MS = 30_000;

/** Headers of one connection (RFC 9110, 7.6.1), not of the message. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** What came of passing a delivery on. */
export type Forwarded = { kind: 'answered'; status: number } | { kind: 'failed'; error: string };

/**
 * Posts a delivery's bytes and headers to another URL, so that its signature verifies there too. Redirects are answers.
 */
export async function forward(delivery: ReceivedDelivery, url: URL): Promise<Forwarded> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    headers: headersToForward(delivery.headers),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  request.on('response', resolve);
  request.on('error', reject);
  request.end(delivery.body);
  try {
    const response = await promise;
    response.resume();
    return { kind: 'answered', status: response.statusCode ?? 502 };
  } catch (error) {
    return { kind: 'failed', error: describe(error) };
  }
}

/** The headers that belong to the message. */
export function headersToForward(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name)));
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  if ('code' in error && error.code === 'ECONNREFUSED') return 'nothing listens there';
  return error.message;
}
