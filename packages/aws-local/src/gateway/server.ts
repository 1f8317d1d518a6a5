import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { cannotListen } from '../engines/free-port.ts';
import type { Answer } from './answer.ts';
import { announcesTooMuch, drain, readBody } from './body.ts';
import { arrivalAt, failure, matchOperation, respond, UNREADABLE, unmatched } from './handler.ts';
import type { Arrival } from './proxy-event.ts';
import { type GatewayRequest, parseTarget } from './request.ts';
import type { RestApi } from './rest-api.ts';

/** API Gateway's limit on the request line and headers together. */
const HEADER_LIMIT_BYTES = 10_240;
/** Limit on receiving one request, so that slow clients cannot pile up. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 60_000;
const DRAIN_CHECK_MS = 20;

export type Pages = (request: GatewayRequest) => Promise<Answer | undefined>;

export interface Gateway {
  port: number;
  /** Accepts no new connections and closes idle ones; resolves when open requests are answered. */
  drain(): Promise<void>;
  /** Closes every connection at once. */
  close(): void;
}

/**
 * Serves a REST API on the loopback interface.
 * @param pages other pages at the same URL; they return undefined for paths that they do not have
 * @param port 0 for any free port
 * @param log called for an error of the gateway, which ends its connection only, and for a function without a
 *   response, whose reason the client does not see
 * @throws LocalRunError when the port is taken
 */
export async function startGateway(
  api: RestApi,
  port: number,
  pages: Pages = async () => undefined,
  log: (text: string) => void = () => undefined,
): Promise<Gateway> {
  function trackResponse(work: Promise<void>, response: ServerResponse): void {
    work.catch((error: Error) => {
      log(`a connection was ended: ${error.stack}`);
      response.destroy(error);
    });
  }

  const server = createServer(
    {
      maxHeaderSize: HEADER_LIMIT_BYTES,
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1_000,
      noDelay: true,
      // Node.js would answer a request without it by itself, without the envelope.
      requireHostHeader: false,
    },
    (message, response) => trackResponse(serve(api, pages, log, message, response), response),
  );
  server.on('checkContinue', (message, response) =>
    trackResponse(serve(api, pages, log, message, response), response),
  );
  server.on('checkExpectation', (message, response) =>
    trackResponse(refuse(api, message, response, 417), response),
  );
  server.on('connect', (_message, socket) =>
    end(socket, failure(api, 'DEFAULT_4XX', UNREADABLE, arrivalAt(api, new Date()))),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseUnreadable(api, error, socket));
  await listen(server, port);
  return {
    port: readPort(server),
    drain: () => waitUntilDrained(server),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function serve(
  api: RestApi,
  pages: Pages,
  log: (text: string) => void,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const arrival = arrivalAt(api, new Date());
  const request = readRequest(message);
  if (!request) return refuse(api, message, response, 400);
  const matched = matchOperation(api, request);
  if (!matched) {
    const answer = (await pages(request)) ?? unmatched(api, request, arrival);
    return sendUnread(message, response, answer);
  }
  if (!matched.operation.takes(arrival.time))
    return sendUnread(message, response, failure(api, 'THROTTLED', request, arrival));
  if (message.headers.expect !== undefined && !announcesTooMuch(message)) response.writeContinue();
  const body = await readBody(message);
  if (body === 'aborted') return;
  if (body === 'too large')
    return sendUnread(message, response, failure(api, 'REQUEST_TOO_LARGE', request, arrival));
  send(message, response, await respond(api, matched, request, arrival, body, log));
}

function readRequest(message: IncomingMessage): GatewayRequest | undefined {
  const target = parseTarget(message.url ?? '');
  const lacksHost = message.httpVersion === '1.1' && message.headers.host === undefined;
  if (!target || lacksHost) return undefined;
  const { rawHeaders } = message;
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    headers.push([rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '']);
  return {
    ...target,
    method: message.method ?? '',
    headers,
    protocol: `HTTP/${message.httpVersion}`,
    sourceIp: message.socket.remoteAddress ?? '127.0.0.1',
  };
}

function refuse(
  api: RestApi,
  message: IncomingMessage,
  response: ServerResponse,
  statusCode: number,
): Promise<void> {
  const request = { ...UNREADABLE, method: message.method ?? '' };
  // After an invalid request the following bytes may be misread.
  response.shouldKeepAlive = false;
  return sendUnread(
    message,
    response,
    failure(api, 'DEFAULT_4XX', request, arrivalAt(api, new Date()), statusCode),
  );
}

function send(message: IncomingMessage, response: ServerResponse, answer: Answer): void {
  writeHead(response, answer);
  response.end(message.method === 'HEAD' ? undefined : answer.body);
}

/** Answers without reading the body; the connection then closes if one is coming. */
async function sendUnread(message: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const hasBody =
    message.headers['transfer-encoding'] !== undefined || Number(message.headers['content-length'] ?? 0) > 0;
  if (!hasBody) return send(message, response, answer);
  response.shouldKeepAlive = false;
  writeHead(response, answer);
  response.write(message.method === 'HEAD' ? '' : answer.body);
  await drain(message);
  response.end();
}

function writeHead(response: ServerResponse, { statusCode, headers, body }: Answer): void {
  // These statuses have no body, and a length of 0 would be wrong.
  const hasLength = statusCode !== 204 && statusCode !== 304;
  response.writeHead(
    statusCode,
    hasLength ? { ...headers, 'Content-Length': Buffer.byteLength(body) } : headers,
  );
}

/** Answers a request that Node.js could not parse, or that took too long to arrive. */
function refuseUnreadable(api: RestApi, error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const statusCode = UNREADABLE_STATUS[error.code ?? ''] ?? 400;
  const arrival: Arrival = arrivalAt(api, new Date());
  end(socket, failure(api, 'DEFAULT_4XX', UNREADABLE, arrival, statusCode));
}

const UNREADABLE_STATUS: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

function end(socket: Duplex, { statusCode, headers, body }: Answer): void {
  const all = { ...headers, 'Content-Length': String(Buffer.byteLength(body)), Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${String(value)}`);
  socket.end(
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  );
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    throw cannotListen(port, error);
  }
}

function readPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The gateway listens on a port');
  return address.port;
}

async function waitUntilDrained(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // A connection that was busy when the server closed stays open after its response.
  const timer = setInterval(() => server.closeIdleConnections(), DRAIN_CHECK_MS);
  await closed;
  clearInterval(timer);
}
