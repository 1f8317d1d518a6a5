import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { checkReceiverUrl, type ReceiverPolicy } from '../../receivers/receiver-url.ts';
import { type AttemptError, forbid } from '../delivery.ts';
import { ContentError, describeFailure, type ReceiverAgent } from './agent.ts';
import { Cookies } from './cookies.ts';
import { awaitResponse, drain, open, startDeadline } from './exchange.ts';

/**
 * Reads and decodes a body. Holds at most twice the limit.
 * @throws ContentError when the body is larger than `maxBytes`, encoded or decoded, is too slow, is encoded
 * wrongly, or is interrupted
 */
export async function readContent(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const decode = chooseDecoder(response.headers['content-encoding'] ?? '');
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw createTooLargeError(maxBytes);

  const body = await readWhole(response, maxBytes);
  // An empty body is valid without an encoding only.
  return body.length === 0 ? body : decode(body, maxBytes);
}

const createTooLargeError = (maxBytes: number) =>
  new ContentError(`the content is larger than ${formatSize(maxBytes)}`);

const formatSize = (bytes: number): string =>
  bytes < 1_000_000 ? `${bytes} bytes` : `${Math.floor(bytes / 1_000_000)} MB`;

const FIRST_CAPACITY = 64 * 1024;

/** Minimum rate over a sliding window: a fast start does not pay for a trickle. */
const MIN_BYTES_PER_SECOND = 1024;
/** Seconds. The first window is the grace of a slow start. */
const RATE_WINDOW = 5;

/**
 * Calls `onSlow` in the first second whose window brought less. Samples, so that a busy process blames no
 * server.
 */
function watchRate(sizeNow: () => number, onSlow: () => void): Disposable {
  const sizes = [0];
  const timer = setInterval(() => {
    const size = sizeNow();
    sizes.push(size);
    if (sizes.length <= RATE_WINDOW) return;
    if (size - (sizes.shift() ?? 0) < RATE_WINDOW * MIN_BYTES_PER_SECOND) onSlow();
  }, 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Copies each chunk: single bytes would each keep the buffer that they were read into, a hundred times their
 * size.
 */
async function readWhole(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  let content = new Uint8Array(Math.min(FIRST_CAPACITY, maxBytes));
  let size = 0;
  using _rate = watchRate(
    () => size,
    () => {
      reject(new ContentError('the content came too slowly', 'timeout'));
      response.destroy();
    },
  );

  response.on('data', (chunk: Uint8Array) => {
    const newSize = size + chunk.length;
    if (newSize > maxBytes) {
      response.destroy();
      return reject(createTooLargeError(maxBytes));
    }
    if (newSize > content.length) {
      const larger = new Uint8Array(Math.min(maxBytes, Math.max(newSize, 2 * content.length)));
      larger.set(content.subarray(0, size));
      content = larger;
    }
    content.set(chunk, size);
    size = newSize;
  });
  response.on('end', () => resolve(content.subarray(0, size)));
  const rejectBroken = () =>
    reject(new ContentError('connection closed before the end of the content', 'connection_closed'));
  response.on('error', rejectBroken);
  response.on('close', rejectBroken);
  return await promise;
}

type Decoder = (body: Uint8Array, maxBytes: number) => Promise<Uint8Array>;

const CODINGS = /^(?:x-)?(?:gzip|compress|deflate|br|zstd|dcb|dcz)$/;

/**
 * Content codings (RFC 9110, section 8.4.1). Some servers send one although none was requested. Others send
 * what is no coding (`utf-8`, `none`, `aws-chunked`), which browsers ignore.
 */
function chooseDecoder(encoding: string): Decoder {
  const names = encoding.toLowerCase().split(',');
  const codings = names.map((name) => name.trim()).filter((name) => CODINGS.test(name));
  switch (codings.join()) {
    case '':
      return async (body) => body;
    case 'gzip':
    case 'x-gzip':
      return limitSize(gunzip, 'gzip');
    case 'deflate':
      return (body, maxBytes) => limitSize(isZlib(body) ? inflate : inflateRaw, 'deflate')(body, maxBytes);
    case 'br':
      return limitSize(brotliDecompress, 'Brotli');
    default:
      throw new ContentError('the content has an encoding that was not requested');
  }
}

/** "deflate" has the zlib format (RFC 1950), which some servers omit. */
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;

// Without `promisify`: loading `node:util` for it takes 1.5 ms of each dispatcher's cold start.
function limitSize(decode: typeof gunzip, name: string): Decoder {
  return (body, maxBytes) => {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    decode(body, { maxOutputLength: maxBytes }, (cause, decoded) => {
      if (cause === null) return resolve(decoded);
      const isTooLarge = 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
      if (isTooLarge) reject(createTooLargeError(maxBytes));
      else reject(new ContentError(`the content is not valid ${name}`, undefined, { cause }));
    });
    return promise;
  };
}

export interface FetchRequest {
  url: URL;
  /** Also sent after redirects: nothing for the first server alone. */
  headers: Record<string, string>;
  /** Of the body, both encoded and decoded. */
  maxBytes: number;
}

export type FetchResult =
  | {
      kind: 'fetched';
      /** URL after redirects. */
      url: string;
      contentType?: string;
      /** Validators for the next request; those that no request could carry are dropped. */
      etag?: string;
      lastModified?: string;
      body: Uint8Array;
    }
  /** The content is unchanged (RFC 9110, section 13.1). */
  | { kind: 'not-modified' }
  /** `error`: one line for the owner of the URL. */
  | ({ kind: 'failed' } & AttemptError);

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Fetches a URL with at most five redirects, each checked by the receiver rule. Cookies that a redirect sets
 * are sent to the same host until the end: some sites redirect until they see theirs. Returns by the deadline
 * and holds at most twice `maxBytes`.
 * The agent must check addresses.
 * @param timeoutMs one deadline for everything, redirects and body included
 * @throws TypeError for headers that HTTP cannot carry
 */
export async function retrieve(
  request: FetchRequest,
  { agent, policy, timeoutMs }: { agent: ReceiverAgent; policy: ReceiverPolicy; timeoutMs: number },
): Promise<FetchResult> {
  const deadline = startDeadline(timeoutMs);
  try {
    let check = checkReceiverUrl(request.url.href, policy);
    if (!check.ok) return { kind: 'failed', ...forbid(check) };

    const cookies = new Cookies();
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const headers = { ...request.headers, ...cookies.buildHeader(check.url.hostname) };
      const answer = await sendGet({ ...request, headers, url: check.url }, agent, deadline);
      if (answer.kind !== 'redirected') return answer;
      cookies.add(answer.cookies, check.url.hostname);

      check = checkReceiverUrl(answer.to, policy);
      if (!check.ok) return failRedirect(`redirected to a URL that is not allowed: ${check.problem}`);
    }
    return failRedirect('too many redirects');
  } catch (error) {
    if (error instanceof TypeError) throw error;
    return { kind: 'failed', ...describeFailure(error, timeoutMs) };
  } finally {
    deadline.cancel();
  }
}

const failRedirect = (error: string): FetchResult => ({ kind: 'failed', errorCode: 'redirect', error });

type Answer = FetchResult | { kind: 'redirected'; to: string; cookies: readonly string[] };

type Deadline = ReturnType<typeof startDeadline>;

async function sendGet(request: FetchRequest, agent: ReceiverAgent, deadline: Deadline): Promise<Answer> {
  const { url, headers } = request;
  agent.closeIdle();
  const fields = { host: url.host, ...headers, 'accept-encoding': 'identity' };
  const outgoing = open({ method: 'GET', url, headers: fields }, agent);
  deadline.over(outgoing);
  try {
    const response = awaitResponse(outgoing);
    outgoing.end();
    return await parseResponse(request, outgoing, await Promise.race([response, deadline.passed]), deadline);
  } catch (error) {
    outgoing.destroy();
    throw error;
  }
}

async function parseResponse(
  request: FetchRequest,
  outgoing: ClientRequest,
  response: IncomingMessage,
  deadline: Deadline,
): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  // 203: a proxy has changed the content.
  if (status === 200 || status === 203) {
    const body = await Promise.race([readContent(response, request.maxBytes), deadline.passed]);
    return { kind: 'fetched', url: request.url.href, ...readValidators(headers), body };
  }

  if (status < 200) outgoing.destroy();
  else drain(outgoing, response);
  if (REDIRECTS.includes(status)) return followRedirect(headers, request.url);
  if (status === 304 && isConditional(request)) return { kind: 'not-modified' };
  throw new ContentError(`the server answered ${status}`, 'http_status');
}

/** @returns the target without the fragment */
function followRedirect({ location, 'set-cookie': cookies = [] }: IncomingHttpHeaders, from: URL): Answer {
  // Header fields are read as bytes; other than ASCII they are UTF-8 by custom.
  const target =
    location === undefined ? null : URL.parse(Buffer.from(location, 'latin1').toString(), from.href);
  if (target === null) throw new ContentError('redirected without a valid Location header', 'redirect');
  target.hash = '';
  return { kind: 'redirected', to: target.href, cookies };
}

const isConditional = ({ headers }: FetchRequest): boolean =>
  Object.keys(headers).some((name) => /^if-(none-match|modified-since)$/i.test(name));

const VISIBLE = /^[\x21-\x7e]{1,1024}$/;
const VISIBLE_OR_SPACE = /^[\x20-\x7e]{1,200}$/;

/** Keeps valid values only: they are stored, and two of them sent back. */
function readValidators(headers: IncomingHttpHeaders) {
  const { 'content-type': contentType, etag, 'last-modified': lastModified } = headers;
  return {
    ...(contentType !== undefined && VISIBLE_OR_SPACE.test(contentType) && { contentType }),
    ...(etag !== undefined && VISIBLE.test(etag) && { etag }),
    ...(lastModified !== undefined && VISIBLE_OR_SPACE.test(lastModified) && { lastModified }),
  };
}
