import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** A received request. */
export interface Received {
  /** Path and query. */
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A real receiver that behaves as the URL of the request says, like simulated ones. */
export interface ProgrammedReceiver {
  /**
   * `https://127.0.0.1:PORT`: not the host name, which has a second address that is tried when the first one
   * is slow.
   */
  url: string;
  port: number;
  received: readonly Received[];
  /** The number of TCP connections that were opened to it. */
  connections(): number;
  stop(): Promise<void>;
}

/** A page for callers that read one. */
const PAGE = '<!doctype html><title>Handbook</title><p>What there is to know.</p>';

/** Longer than any sender keeps an idle connection. */
const KEEP_ALIVE_MS = 60_000;

/** @param tls PEM of its certificate and key */
export async function startProgrammedReceiver(tls: {
  cert: string;
  key: string;
}): Promise<ProgrammedReceiver> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer({ ...tls, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    // Ends the wait when the sender hangs up.
    serve(request, response).catch(() => response.destroy());
  });
  server.on('connection', () => {
    connections += 1;
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const delivery = { target: request.url ?? '', headers: request.headers, body: body.toString() };
    received.push(delivery);
    if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    else await act(parseStep(delivery), response);
  }

  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    received,
    connections: () => connections,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Step {
  does: string;
  afterMs: number;
}

/** Parses the program without the service's own parser, whose bugs would otherwise be on both sides. */
function parseStep({ target, headers }: Received): Step {
  const steps = (new URL(target, 'https://localhost').searchParams.get('simulate') ?? '200').split(',');
  const step = steps[Math.min(Number(headers['webhook-attempt']), steps.length) - 1] ?? '';
  const [, does = '', amount = '0', unit = 's'] = /^(\w+)(?:@([\d.]+)(ms|s))?$/.exec(step) ?? [];
  return { does, afterMs: Number(amount) * (unit === 's' ? 1000 : 1) };
}

async function act({ does, afterMs }: Step, response: ServerResponse): Promise<void> {
  await sleep(afterMs);
  // The socket stays open until the sender closes it.
  if (does === 'timeout') return;
  if (does === 'reset') response.destroy();
  else response.writeHead(Number(does)).end();
}
