import type { Agent as HttpAgent, IncomingMessage, request as requestOverHttp } from 'node:http';
import { Agent, request as overHttps } from 'node:https';

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
