import { VerificationError } from './verification-error.ts';

/** The largest body that is read, in bytes. Those of the service are at most about 260 KiB. */
const MAX_BODY_BYTES = 1024 * 1024;

type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Node's `IncomingMessage`, also with a body that a framework has read as bytes or text. */
export interface NodeRequest {
  headers: HeaderValues;
  body?: unknown;
  [Symbol.asyncIterator]?(): AsyncIterator<unknown>;
}

/** Event of a Lambda function behind API Gateway, a function URL or a load balancer. */
export interface LambdaRequest {
  headers: HeaderValues;
  body?: string | null | undefined;
  isBase64Encoded?: boolean | undefined;
}

/** A request of one of the kinds that servers have. */
export type IncomingRequest = Request | NodeRequest | LambdaRequest;

/** Bytes for Web Crypto: before version 5.7, TypeScript's arrays of bytes have no parameter. */
export type Bytes = Uint8Array & { readonly buffer: ArrayBuffer };

/** What is verified of a request. */
export interface SignedRequest {
  header(name: string): string | undefined;
  body: Bytes;
}

const encoder = new TextEncoder();

/**
 * Reads headers and the exact bytes of the body.
 * @throws VerificationError `body_parsed`, `body_too_large`
 */
export async function readRequest(request: IncomingRequest): Promise<SignedRequest> {
  if (isFetchRequest(request))
    return { header: (name) => request.headers.get(name) ?? undefined, body: await join(request.body ?? []) };
  const { headers } = request;
  return { header: (name) => findHeader(headers, name), body: await readBody(request) };
}

const isFetchRequest = (request: IncomingRequest): request is Request =>
  typeof Object(request.headers).get === 'function';

/** Load balancers and function URLs differ in the case of names. */
function findHeader(headers: HeaderValues, name: string): string | undefined {
  const header = headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof header === 'object' ? header.join(' ') : header;
}

async function readBody(request: NodeRequest | LambdaRequest): Promise<Bytes> {
  const { body } = request;
  if (body instanceof Uint8Array) return checkSize(new Uint8Array(body));
  if (typeof body === 'string') {
    const isEncoded = 'isBase64Encoded' in request && request.isBase64Encoded === true;
    return checkSize(isEncoded ? fromBase64(body) : encoder.encode(body));
  }
  if (body !== undefined && body !== null)
    throw new VerificationError(
      'body_parsed',
      'The body was parsed before it was verified. Verify its raw bytes, for example with express.raw({ type: "application/json" }).',
    );
  return Symbol.asyncIterator in request ? join(request as AsyncIterable<unknown>) : new Uint8Array();
}

async function join(chunks: AsyncIterable<unknown> | Iterable<never>): Promise<Bytes> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks as AsyncIterable<unknown>) {
    const part = chunk instanceof Uint8Array ? chunk : encoder.encode(String(chunk));
    length += part.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    parts.push(part);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function checkSize(body: Bytes): Bytes {
  if (body.length > MAX_BODY_BYTES) throw tooLarge();
  return body;
}

const tooLarge = () =>
  new VerificationError('body_too_large', `The body has more than ${MAX_BODY_BYTES} bytes.`);

/** @throws DOMException for other text */
export function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
