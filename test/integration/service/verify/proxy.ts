import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The parts of an answer that a proxy can change. */
export interface ProxiedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Headers of the connection, or of the length of the body before the change. */
const OF_THE_CONNECTION = [
  'connection',
  'content-encoding',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
];

/**
 * Starts a proxy on a free port of the loopback interface.
 * @param target origin that it forwards to
 * @param change returns the answer that replaces the target's
 */
export async function startProxy(
  target: string,
  change: (request: Pick<IncomingMessage, 'method' | 'url'>, answer: ProxiedAnswer) => ProxiedAnswer,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const method = request.method ?? 'GET';
    const answer = await fetch(`${target}${request.url}`, {
      method,
      headers: forwarded(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      ...(body.length > 0 && { body: new Uint8Array(body) }),
      redirect: 'manual',
    });
    const {
      status,
      headers,
      body: changed,
    } = change(request, {
      status: answer.status,
      headers: forwarded([...answer.headers]),
      body: Buffer.from(await answer.arrayBuffer()),
    });
    response.writeHead(status, headers).end(changed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const forwarded = (headers: readonly (readonly [string, string])[]): Record<string, string> =>
  Object.fromEntries(headers.filter(([name]) => !OF_THE_CONNECTION.includes(name)));
