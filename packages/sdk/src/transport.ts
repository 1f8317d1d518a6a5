import {
  ApiError,
  ConnectionError,
  type ErrorDetail,
  type ErrorType,
  ResponseError,
  TimeoutError,
} from './errors.ts';
import type { CallOptions, ItemOf, Operation, ResponseOf } from './operations.ts';
import { type Page, Pages } from './pages.ts';
import { type Result, resultOf, type WithResponse } from './result.ts';
import { ROUTES } from './routes.gen.ts';
import { userAgent } from './user-agent.ts';
import { wait } from './wait.ts';

/** For one call of a `POST` operation. */
export interface WriteOptions extends CallOptions {
  /**
   * A UUID that is the same for calls that shall take effect once, for 24 hours. Without one, each call has
   * its own, which its retries keep.
   */
  idempotencyKey?: string;
}

/** An operation that is going to be removed was called. */
export interface DeprecationNotice {
  operation: Operation;
  /** The `Deprecation` header (RFC 9745). */
  deprecation: string;
  /** The `Sunset` header (RFC 8594): when the operation stops working. */
  sunset: string | undefined;
}

export interface TransportOptions {
  /** Where the service is: `https://api.example.com`. */
  baseUrl: string;
  /** API key or visitor token. */
  credential: string;
  /** For each try, in milliseconds: 30,000 without it. */
  timeoutMs?: number | undefined;
  /** Tries after the first one: 4 without it. */
  maxRetries?: number | undefined;
  /** A service that asks to wait longer, in milliseconds, is not asked again: 60,000 without it. */
  maxWaitMs?: number | undefined;
  /** Called once for each deprecated operation; writes a warning without it. */
  onDeprecation?: ((notice: DeprecationNotice) => void) | undefined;
  /** Called with a line for each try: operation, path, status, request, time. Never a key or a text. */
  debug?: ((line: string) => void) | undefined;
  fetch?: typeof fetch | undefined;
  /** Waits between tries. For tests. */
  sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

/** What an operation is called with. */
export interface Input {
  path?: Readonly<Record<string, string>>;
  query?: object;
  body?: unknown;
}

export interface Transport {
  send<O extends Operation>(
    operation: O,
    input?: Input,
    options?: WriteOptions,
  ): Promise<WithResponse<ResponseOf<O>>>;
  list<O extends Operation>(operation: O, input?: Input, options?: CallOptions): Pages<ItemOf<O>>;
}

/** Waits after the first, second … try without `Retry-After`: a random part of these milliseconds. */
const FIRST_WAIT_MS = 500;
const MAX_BACKOFF_MS = 8_000;
const RETRIED = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Sends requests: with a timeout, retries after errors that pass, and an idempotency key that all tries of a
 * `POST` share, so that a call takes effect once (docs/specification.md, Idempotency).
 * @throws TypeError when the credential would be sent unencrypted
 */
export function createTransport(options: TransportOptions): Transport {
  const { credential, timeoutMs = 30_000, maxRetries = 4, maxWaitMs = 60_000 } = options;
  const { fetch: send = fetch, sleep = wait, onDeprecation = warn, debug = () => undefined } = options;
  const base = checkBase(options.baseUrl);
  const noticed = new Set<Operation>();

  function notice(operation: Operation, { headers }: Response): void {
    const deprecation = headers.get('deprecation');
    if (deprecation === null || noticed.has(operation)) return;
    noticed.add(operation);
    onDeprecation({ operation, deprecation, sunset: headers.get('sunset') ?? undefined });
  }

  async function tryOnce(url: URL, request: RequestInit, { signal, timeoutMs: own }: CallOptions) {
    const deadline = AbortSignal.timeout(own ?? timeoutMs);
    try {
      const response = await send(url, {
        ...request,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      });
      // A response that breaks off in the middle is retried as well.
      return { response, text: await response.text() };
    } catch (cause) {
      signal?.throwIfAborted();
      if (deadline.aborted)
        return new TimeoutError(`No response from ${url.host} in ${own ?? timeoutMs} ms.`, { cause });
      return new ConnectionError(`No response from ${url.host}.`, { cause });
    }
  }

  async function call<O extends Operation>(
    operation: O,
    { path = {}, query = {}, body }: Input = {},
    own: WriteOptions = {},
    isData: (data: unknown) => boolean = isObject,
  ): Promise<WithResponse<ResponseOf<O>>> {
    const [method = '', template = ''] = ROUTES[operation].split(' ');
    const url = buildUrl(base, template, path, query);
    const headers: Record<string, string> = {
      authorization: `Bearer ${credential}`,
      accept: 'application/json',
    };
    // A browser has its own, and asks the service whether another one is allowed.
    if (!('document' in globalThis)) headers['user-agent'] = userAgent();
    if (method === 'POST') headers['idempotency-key'] = own.idempotencyKey ?? crypto.randomUUID();
    if (body !== undefined) headers['content-type'] = 'application/json';
    // The key must not follow a redirect to elsewhere, and the API has none.
    const request: RequestInit = { method, headers, redirect: 'manual' };
    if (body !== undefined) request.body = JSON.stringify(body);
    for (let tried = 0; ; tried += 1) {
      const startedAt = Date.now();
      const result = await tryOnce(url, request, own);
      const isLast = tried >= (own.maxRetries ?? maxRetries);
      const say = (outcome: string) =>
        debug(
          `${operation} ${method} ${url.pathname}: ${outcome} after ${Date.now() - startedAt} ms, try ${tried + 1}`,
        );
      if (result instanceof ConnectionError) {
        say(result.name);
        if (isLast) throw result;
        await sleep(backoff(tried), own.signal);
        continue;
      }
      const { response, text } = result;
      const { status } = response;
      const requestId = response.headers.get('request-id') ?? undefined;
      say(`${status}, request ${requestId ?? 'unknown'}`);
      notice(operation, response);
      const done = (data: unknown) => ({
        data: data as ResponseOf<O>,
        status,
        headers: response.headers,
        requestId,
      });
      if (status === 204 && method === 'DELETE') return done(undefined);
      const content = parse(text);
      if (response.ok && isData(content.data)) return done(content);
      const error = toError(response, content);
      const retryAfterSeconds = readRetryAfter(response.headers);
      const waitMs = retryAfterSeconds === undefined ? backoff(tried) : retryAfterSeconds * 1000;
      if (isLast || !RETRIED.has(status) || waitMs > maxWaitMs) throw error;
      await sleep(waitMs, own.signal);
    }
  }

  return {
    send: (operation, input, own) => call(operation, input, own),
    list: <O extends Operation>(operation: O, input: Input = {}, own: CallOptions = {}) =>
      new Pages((cursor): Result<Page<ItemOf<O>>> => {
        const query = cursor === undefined ? input.query : { ...input.query, cursor };
        const asked = { ...input, ...(query && { query }) };
        return resultOf(call(operation, asked, own, Array.isArray), (page) => page as Page<ItemOf<O>>);
      }),
  };
}

/** Hosts that are this machine, to which a request needs no encryption. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function checkBase(baseUrl: string): URL {
  const base = new URL(baseUrl);
  if (base.protocol !== 'https:' && !LOOPBACK.test(base.hostname))
    throw new TypeError(`${baseUrl} must be an https URL: the key would be sent unencrypted.`);
  return base;
}

function buildUrl(base: URL, template: string, path: Readonly<Record<string, string>>, query: object): URL {
  const url = new URL(base);
  const written = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined || value === '') throw new TypeError(`${name} must not be empty.`);
    return encodeURIComponent(value);
  });
  url.pathname = `${url.pathname.replace(/\/$/, '')}${written}`;
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    const text = value instanceof Date ? value.toISOString() : String(value);
    url.searchParams.set(name, text);
  }
  return url;
}

/** Full jitter: clients that failed together do not return together. */
const backoff = (tried: number): number =>
  Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_WAIT_MS * 2 ** tried);

/** `Retry-After` in seconds (RFC 9110, 10.2.3: a number, or a date). */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

interface Content {
  data?: unknown;
  error?: { type?: unknown; message?: unknown; requestId?: string; details?: ErrorDetail[] };
}

const isObject = (value: unknown): boolean => Object(value) === value;

/** The parsed body; empty when it is not that of an object. */
function parse(text: string): Content {
  try {
    return Object(JSON.parse(text)) as Content;
  } catch {
    return {};
  }
}

/** An error of the API, or a response that is not one of the API: proxies on the way have their own. */
function toError({ status, headers }: Response, { error }: Content): ApiError | ResponseError {
  const { type, message, details = [], ...rest } = Object(error) as NonNullable<Content['error']>;
  const requestId = rest.requestId ?? headers.get('request-id') ?? undefined;
  if (status < 400 || typeof type !== 'string' || typeof message !== 'string')
    return new ResponseError(`The response with status ${status} is not as documented. ${HINT}`, {
      status,
      requestId,
    });
  const retryAfterSeconds = readRetryAfter(headers);
  return new ApiError({ status, type: type as ErrorType, message, requestId, details, retryAfterSeconds });
}
const HINT = 'Check the base URL and proxies on the way.';

function warn({ operation, deprecation, sunset }: DeprecationNotice): void {
  const until = sunset === undefined ? '' : `, and works until ${sunset}`;
  // biome-ignore lint/suspicious/noConsole: another place is passed as `onDeprecation`
  console.warn(`The operation ${operation} is deprecated (${deprecation})${until}.`);
}
