import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { Agent as HttpAgent, IncomingMessage, request as requestOverHttp } from 'node:http';
import { Agent, request as overHttps } from 'node:https';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { loadOnce } from './cache.ts';

/** A request as the SDK hands it over. */
interface SdkRequest {
  protocol: string;
  hostname: string;
  port?: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
}

interface SdkResponse {
  statusCode: number;
  reason?: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Names and codes by which the SDK repeats a request and the pipeline answers 503. */
class TimeoutError extends Error {
  override name = 'TimeoutError';
  readonly code = 'ETIMEDOUT';
}

class AbortError extends Error {
  override name = 'AbortError';
}

/** The client of one protocol. */
interface Transport {
  request: typeof requestOverHttp;
  agent: HttpAgent;
}

const KEPT = { keepAlive: true, maxSockets: 64 };

/**
 * A `requestHandler` of SDK clients for requests without a query and whole bodies, over kept connections. A
 * request has one timer and ends with its body read, where the SDK's handler has five timers and a stream.
 * @param terms.connectMs until a new connection is open
 * @param terms.requestMs until the response was read
 */
export function requestHandler({ connectMs, requestMs }: { connectMs: number; requestMs: number }) {
  const https: Transport = { request: overHttps, agent: new Agent(KEPT) };
  let http: Transport | undefined;

  /** Only a local run needs plain HTTP. An import would load WebSocket too, which takes 36 ms. */
  function loadHttp(): Transport {
    const { Agent: PlainAgent, request } = process.getBuiltinModule('node:http');
    http ??= { request, agent: new PlainAgent(KEPT) };
    return http;
  }

  const send = (
    transport: Transport,
    { hostname, port, method, path, headers, body }: SdkRequest,
    abortSignal: AbortSignal | undefined,
  ): Promise<{ response: SdkResponse }> =>
    new Promise((resolve, reject) => {
      let hasResponse = false;
      const terms = { agent: transport.agent, host: hostname, port, method, path, headers };
      const outgoing = transport.request(terms, (response) => {
        hasResponse = true;
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('end', () => {
          end();
          resolve({ response: toSdkResponse(response, chunks) });
        });
      });
      const end = () => {
        clearTimeout(timer);
        abortSignal?.removeEventListener('abort', abort);
      };
      const fail = (error: Error) => {
        end();
        reject(error);
      };
      const giveUp = (error: Error) => {
        fail(error);
        outgoing.destroy();
      };
      const abort = () => giveUp(new AbortError('the request was aborted'));
      const timer = setTimeout(
        () => giveUp(new TimeoutError(`no response within ${requestMs} ms`)),
        requestMs,
      );
      // From its headers on, only the response tells whether it is complete.
      outgoing.on('error', (error) => {
        if (!hasResponse) fail(error);
      });
      outgoing.once('socket', (socket) => {
        if (!socket.connecting) return;
        const connecting = setTimeout(
          () => giveUp(new TimeoutError(`no connection within ${connectMs} ms`)),
          connectMs,
        );
        socket.once('connect', () => clearTimeout(connecting));
        outgoing.once('close', () => clearTimeout(connecting));
      });
      if (abortSignal?.aborted) return abort();
      abortSignal?.addEventListener('abort', abort, { once: true });
      outgoing.end(toPlainBytes(body));
    });

  return {
    async handle(request: SdkRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) {
      const transport = request.protocol === 'https:' ? https : (http ?? loadHttp());
      return send(transport, request, abortSignal);
    },
    metadata: { handlerProtocol: 'http/1.1' },
    destroy(): void {
      http?.agent.destroy();
      https.agent.destroy();
    },
    // Of the SDK's interface: nothing here can be changed.
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

/** The SDK's bytes also act as text, and warn when something takes them for it. */
const toPlainBytes = (body: unknown): unknown =>
  body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : body;

function toSdkResponse(response: IncomingMessage, chunks: readonly Buffer[]): SdkResponse {
  const { statusCode = 0, statusMessage, headers } = response;
  const [first = Buffer.alloc(0), ...others] = chunks;
  return {
    statusCode,
    ...(statusMessage === undefined ? {} : { reason: statusMessage }),
    headers: headers as Record<string, string>,
    body: others.length === 0 ? first : Buffer.concat(chunks),
  };
}

type Signer = Extract<DynamoDBClientConfig['signer'], { sign: unknown }>;

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** A path without characters that a signature encodes. */
const PLAIN_PATH = /^\/[\w/.-]*$/;

/**
 * Signature Version 4 (IAM User Guide, Signature Version 4 for API requests) of requests of the JSON
 * protocols, and of Lambda's Invoke: POST of a whole body. It signs what AWS requires: `host`,
 * `content-type` and `x-amz-*`. The SDK makes a signer for each request and copies its configuration into it.
 * @param terms.credentials read once: those of an execution environment do not change
 */
export function requestSigner(terms: {
  service: string;
  region(): string;
  credentials(): Promise<Credentials>;
}): Signer {
  const { service } = terms;
  let cached: { scope: string; key: KeyObject } | undefined;

  const readCredentials = loadOnce(() => terms.credentials());

  /** The key of a day, which is in the scope. */
  function getKey(day: string, region: string, scope: string, secret: string): KeyObject {
    if (cached?.scope !== scope) {
      const parts = [day, region, service, 'aws4_request'];
      const key = parts.reduce<Buffer>((part, text) => hmac(part, text), Buffer.from(`AWS4${secret}`));
      cached = { scope, key: createSecretKey(key) };
    }
    return cached.key;
  }

  const sign: Signer['sign'] = async (request, { signingDate = new Date(), signingRegion } = {}) => {
    const { path, query = {}, headers, body = '' } = request;
    if (!PLAIN_PATH.test(path) || Object.keys(query).length > 0 || !isBody(body))
      throw new TypeError('only whole requests to plain paths are signed');
    const { accessKeyId, secretAccessKey, sessionToken } = await readCredentials();
    const region = signingRegion ?? terms.region();
    const time = new Date(signingDate).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const day = time.slice(0, 8);
    const scope = `${day}/${region}/${service}/aws4_request`;
    headers['x-amz-date'] = time;
    if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken;
    const names = Object.keys(headers).filter(isSigned).sort();
    const signed = names.map((name) => name.toLowerCase()).join(';');
    const lines = names.map((name) => `${name.toLowerCase()}:${collapse(headers[name])}\n`).join('');
    const canonical = `POST\n${path}\n\n${lines}\n${signed}\n${hash('sha256', body)}`;
    const key = getKey(day, region, scope, secretAccessKey);
    const signature = hmac(key, `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`).toString(
      'hex',
    );
    headers.authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return request;
  };

  return { sign };
}

const hmac = (key: KeyObject | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

const isBody = (body: unknown): body is string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array;

/** As AWS reads the value of a header. */
const collapse = (value = ''): string => value.trim().replace(/\s+/g, ' ');

const isSigned = (name: string): boolean => /^(host|content-type|x-amz-.*)$/i.test(name);

/**
 * Replaces the SDK's credential chain in bundles: Lambda sets credentials in the environment, and the other
 * sources (SSO, processes, instance metadata …) cost load time.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';

/** Replaces the SDK's cache for endpoint discovery in bundles, which no used DynamoDB command needs. */
export class EndpointCache {}

/** Replace the SDK's event streams in bundles, which no function reads. */
export const resolveEventStreamSerdeConfig = <Config>(config: Config): Config => config;
export const eventStreamSerdeProvider = (): never => {
  throw new TypeError('a function reads an event stream');
};
