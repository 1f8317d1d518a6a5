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
import { arrivalAt, failure, matchOperation, respond, unmatched } from './handler.ts';
import { type GatewayRequest, parseTarget } from './request.ts';
import type { RestApi } from './rest-api.ts';

/** API Gateway's limit on the request line and headers together. */
const HEADER_LIMIT_BYTES = 10_240;
/** Limit on receiving one request, so that slow clients cannot pile up. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 60_000;
const DRAIN_CHECK_MS = 20;

/**
 * Answers a request that is not HTTP, or whose headers are too large: 400 or 431. AWS answers it before it
 * reaches an API, so that gateway responses do not apply.
 */
export type AnswerUnreadable = (statusCode: 400 | 431, requestId: string) => Answer;

const answerPlainly: AnswerUnreadable = (statusCode) => ({
  statusCode,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ message: STATUS_CODES[statusCode] }),
});

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
 * @param port 0 for any free port
 * @param options `pages`: other pages at the same URL, which return undefined for paths that they do not
 *   have; `log`: called for an error of the gateway, which ends its connection only, and for a function
 *   without a response, whose reason the client does not see
 * @throws LocalRunError when the port is taken
 */
export async function startGateway(
  api: RestApi,
  port: number,
  {
    pages = async () => undefined,
    unreadable = answerPlainly,
    log = () => undefined,
  }: { pages?: Pages; unreadable?: AnswerUnreadable; log?: (text: string) => void } = {},
): Promise<Gateway> {
  const refusal = (statusCode: 400 | 431): Answer =>
    unreadable(statusCode, arrivalAt(api, new Date()).extendedRequestId);

  function trackResponse(work: Promise<void>, response: ServerResponse): void {
    work.catch((error: Error) => {
      log(`a connection was ended: ${error.stack}`);
      response.destroy(error);
    });
  }

  const answer = (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = readRequest(message);
    return request
      ? serve(api, pages, log, request, message, response)
      : refuse(message, response, refusal(400));
  };

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
    (message, response) => trackResponse(answer(message, response), response),
  );
  server.on('checkContinue', (message, response) => trackResponse(answer(message, response), response));
  server.on('checkExpectation', (message, response) =>
    trackResponse(refuse(message, response, refusal(400)), response),
  );
  server.on('connect', (_message, socket) => end(socket, refusal(400)));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuseUnreadable(error, socket, refusal),
  );
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
  request: GatewayRequest,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const arrival = arrivalAt(api, new Date());
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

function refuse(message: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  // After an invalid request the following bytes may be misread.
  response.shouldKeepAlive = false;
  return sendUnread(message, response, answer);
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
function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  refusal: (statusCode: 400 | 431) => Answer,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  end(socket, refusal(error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400));
}

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
