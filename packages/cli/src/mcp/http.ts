import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { UserError } from 'terminal/errors.ts';
import { isApiError } from '../../../sdk/src/index.ts';
import type { Api } from '../connection/connect.ts';
import { type Access, findAccess } from './access.ts';
import { createMcpServer } from './server.ts';

const PATH = '/mcp';

export interface HttpOptions {
  /** 0 for any free one. */
  port: number;
  /** @returns undefined for a key that is not accepted */
  apiFor(key: string): Api | undefined;
}

/**
 * Serves MCP by streamable HTTP on this machine. Each request has the API key of its client: the server has
 * none, so that a page in a browser, or another user of the machine, can do nothing with it.
 * @throws UserError when the port is taken
 */
export async function serveHttp({ port, apiFor }: HttpOptions) {
  const known = new Map<string, { api: Api; access: Promise<Access> }>();
  const enter = (request: Request) => {
    const [, key = ''] = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    const api = apiFor(key);
    if (api === undefined) return undefined;
    const entry = known.get(key) ?? { api, access: findAccess(api.client) };
    // The scopes of a key do not change. What failed is asked again.
    known.set(key, entry);
    entry.access.catch(() => known.delete(key));
    return entry;
  };
  const handler = createMcpHandler(async ({ requestInfo }) => {
    const entry = requestInfo && enter(requestInfo);
    if (entry === undefined) throw new Error('The request was not authenticated.');
    return createMcpServer(entry.api, await entry.access);
  });

  async function answer(request: Request): Promise<Response> {
    const refusal =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins());
    if (refusal !== undefined) return refusal;
    if (new URL(request.url).pathname !== PATH) return new Response(null, { status: 404 });
    try {
      await (enter(request)?.access ?? Promise.reject(new Error()));
    } catch (error) {
      // Without the API there is no server, and a client may try again.
      const status = error instanceof Error && isTemporary(error) ? 503 : 401;
      return new Response(null, { status, headers: { 'www-authenticate': 'Bearer' } });
    }
    return handler.fetch(request);
  }

  const server = createServer((incoming, outgoing) => {
    answer(toRequest(incoming, outgoing))
      .then((response) => send(response, outgoing))
      .catch((error: Error) => outgoing.destroy(error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(new UserError(`Port ${port} is taken: choose another with --port.`)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await handler.close();
    },
  };
}

const isTemporary = (error: Error): boolean =>
  error.message !== '' && !isApiError(error, 'AUTHENTICATION_ERROR');

function toRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', headers, url = '/' } = incoming;
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
    method,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    ),
    signal: gone.signal,
    ...(hasBody && { body: Readable.toWeb(incoming), duplex: 'half' }),
  } as RequestInit);
}

function send(response: Response, outgoing: ServerResponse): void {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]).pipe(outgoing);
}
