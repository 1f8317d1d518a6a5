import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';

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
class RequestTimedOut extends Error {
  override name = 'TimeoutError';
  readonly code = 'ETIMEDOUT';
}

class RequestAborted extends Error {
  override name = 'AbortError';
}

const KEPT = { keepAlive: true, maxSockets: 64 };

/**
 * A `requestHandler` of SDK clients for requests without a query and whole bodies, over kept connections. A
 * request has one timer and ends with its body read, where the SDK's handler has five timers and a stream.
 * @param terms.connectMs until a new connection is open
 * @param terms.requestMs until the response was read
 */
export function requestHandler({ connectMs, requestMs }: { connectMs: number; requestMs: number }) {
  const http = new HttpAgent(KEPT);
  const https = new HttpsAgent(KEPT);

  const open = (
    { protocol, hostname, port, method, path, headers }: SdkRequest,
    onResponse: (response: IncomingMessage) => void,
  ): ClientRequest => {
    const options = { host: hostname, port, method, path, headers };
    return protocol === 'https:'
      ? overHttps({ ...options, agent: https }, onResponse)
      : overHttp({ ...options, agent: http }, onResponse);
  };

  const handle = (
    request: SdkRequest,
    { abortSignal }: { abortSignal?: AbortSignal } = {},
  ): Promise<{ response: SdkResponse }> =>
    new Promise((resolve, reject) => {
      let hasResponse = false;
      const outgoing = open(request, (response) => {
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
      const abort = () => giveUp(new RequestAborted('the request was aborted'));
      const timer = setTimeout(
        () => giveUp(new RequestTimedOut(`no response within ${requestMs} ms`)),
        requestMs,
      );
      // From its headers on, only the response tells whether it is complete.
      outgoing.on('error', (error) => {
        if (!hasResponse) fail(error);
      });
      outgoing.once('socket', (socket) => {
        if (!socket.connecting) return;
        const connecting = setTimeout(
          () => giveUp(new RequestTimedOut(`no connection within ${connectMs} ms`)),
          connectMs,
        );
        socket.once('connect', () => clearTimeout(connecting));
        outgoing.once('close', () => clearTimeout(connecting));
      });
      if (abortSignal?.aborted) return abort();
      abortSignal?.addEventListener('abort', abort, { once: true });
      outgoing.end(request.body);
    });

  return {
    handle,
    metadata: { handlerProtocol: 'http/1.1' },
    destroy(): void {
      http.destroy();
      https.destroy();
    },
    // Of the SDK's interface: nothing here can be changed.
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

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
