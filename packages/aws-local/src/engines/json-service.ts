import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Engine } from './engine.ts';

/** A call of the SDK to a service that speaks JSON, over one of AWS's two protocols. */
export interface JsonCall {
  method: string;
  /** Without the query; `/` in AWS JSON 1.1. */
  path: string;
  /** `X-Amz-Target` of AWS JSON 1.1, for example `secretsmanager.GetSecretValue`; a REST call has none. */
  target: string | undefined;
  /** Undefined where it is no JSON. */
  body: unknown;
}

export interface JsonAnswer {
  status: number;
  body: unknown;
  headers?: Readonly<Record<string, string>>;
}

export const success = (body: Record<string, unknown>): JsonAnswer => ({ status: 200, body });

/** An error as both protocols tell it. @param type the exception's name in the service's model */
export const failure = (type: string, message: string, status = 400): JsonAnswer => ({
  status,
  body: { __type: type, message },
});

/**
 * Starts a service on a free port of the loopback interface. An answer that fails ends its connection, which
 * the SDK tries again.
 */
export async function startJsonService(
  answer: (call: JsonCall) => JsonAnswer | Promise<JsonAnswer>,
): Promise<Engine> {
  const server = createServer((request, response) => {
    callOf(request)
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

async function callOf(request: IncomingMessage): Promise<JsonCall> {
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
