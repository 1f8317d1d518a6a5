import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Engine } from './engine.ts';

/** An SDK call over one of AWS's two JSON protocols. */
export interface JsonCall {
  method: string;
  /** Without the query; `/` in AWS JSON 1.1. */
  path: string;
  /** `X-Amz-Target` of AWS JSON 1.1, such as `secretsmanager.GetSecretValue`; undefined for REST. */
  target: string | undefined;
  /** Undefined if not JSON. */
  body: unknown;
}

export interface JsonAnswer {
  status: number;
  body: unknown;
  headers?: Readonly<Record<string, string>>;
}

export const success = (body: Record<string, unknown>): JsonAnswer => ({ status: 200, body });

/**
 * An error in the form of both protocols.
 * @param type the exception's name in the service model
 */
export const failure = (type: string, message: string, status = 400): JsonAnswer => ({
  status,
  body: { __type: type, message },
});

/**
 * Starts a service on a free loopback port. An answer that throws ends the connection, and the SDK retries.
 */
export async function startJsonService(
  answer: (call: JsonCall) => JsonAnswer | Promise<JsonAnswer>,
): Promise<Engine> {
  const server = createServer((request, response) => {
    readCall(request)
      .then(answer)
      .then(
        (result) => send(response, result),
        (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('A TCP server has an address with a port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readCall(request: IncomingMessage): Promise<JsonCall> {
  const body = await text(request);
  const target = request.headers['x-amz-target'];
  return {
    method: request.method ?? '',
    path: request.url?.split('?', 1)[0] ?? '',
    target: typeof target === 'string' ? target : undefined,
    body: parseJson(body),
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, body, headers }: JsonAnswer): void {
  response
    .writeHead(status, { 'content-type': 'application/x-amz-json-1.1', ...headers })
    .end(JSON.stringify(body));
}
