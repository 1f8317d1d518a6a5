import type { EventPayload, ReceivedEvent } from './events.ts';
import { type Bytes, fromBase64, type IncomingRequest, readRequest, type SignedRequest } from './request.ts';
import { VerificationError } from './verification-error.ts';

/** The signing secret `whsec_…`; several while it changes, for example from one endpoint to its successor. */
export type Secrets = string | readonly string[];

export interface VerifyOptions {
  /** How far the timestamp may be from now, in seconds: 300 without it. */
  toleranceSeconds?: number | undefined;
  /** The time of verification. For tests. */
  now?: Date | undefined;
}

/** As in the Web Cryptography API, whose types differ between servers and browsers. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const PREFIX = 'whsec_';
const VERSION = 'v1';

/**
 * Verifies a webhook request by the scheme of Standard Webhooks (docs/specification.md, Signatures): HMAC-
 * SHA256 over id, timestamp and the exact body, compared in constant time, and a timestamp near now.
 * @param request a Fetch API `Request`, Node's `IncomingMessage`, or the event of a Lambda function
 * @throws VerificationError
 */
export async function verify(
  request: IncomingRequest,
  secrets: Secrets,
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<ReceivedEvent> {
  const keys = await importKeys(typeof secrets === 'string' ? [secrets] : secrets);
  const signed = await readRequest(request);
  const id = requireHeader(signed, 'webhook-id');
  const timestamp = requireHeader(signed, 'webhook-timestamp');
  const signatures = readSignatures(requireHeader(signed, 'webhook-signature'));
  checkTime(timestamp, toleranceSeconds, now);
  const content = concatenate(`${id}.${timestamp}.`, signed.body);
  if (!(await hasMatch(keys, signatures, content)))
    throw new VerificationError('signature_mismatch', 'No signature of the request matches a secret.');
  const payload = parsePayload(signed.body);
  const attempt = Number(signed.header('webhook-attempt'));
  return Object.assign(payload, {
    id,
    deliveryId: signed.header('webhook-delivery-id'),
    endpointId: signed.header('webhook-endpoint-id'),
    attempt: Number.isInteger(attempt) && attempt > 0 ? attempt : undefined,
    isExample: signed.header('webhook-example') === 'true',
  });
}

const importKeys = (secrets: readonly string[]): Promise<Key[]> =>
  Promise.all(
    secrets.map((secret) =>
      crypto.subtle.importKey('raw', decodeSecret(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
        'verify',
      ]),
    ),
  );

function decodeSecret(secret: string): Bytes {
  try {
    const key = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '');
    if (key.length > 0) return key;
  } catch {
    // Not base64: reported below.
  }
  throw new VerificationError('secret_invalid', 'A signing secret is whsec_ and base64.');
}

function requireHeader({ header }: SignedRequest, name: string): string {
  const value = header(name);
  if (value === undefined || value === '')
    throw new VerificationError('header_missing', `The request has no ${name} header.`);
  return value;
}

function checkTime(timestamp: string, toleranceSeconds: number, now: Date): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new VerificationError('timestamp_invalid', 'The webhook-timestamp header is not a time.');
  const seconds = Math.floor(now.getTime() / 1000);
  if (Math.abs(seconds - Number(timestamp)) > toleranceSeconds)
    throw new VerificationError(
      'timestamp_too_far',
      `The webhook-timestamp header is more than ${toleranceSeconds} seconds from now.`,
    );
}

/** Signatures of the one scheme that is known. */
function readSignatures(header: string): Bytes[] {
  return header.split(' ').flatMap((entry) => {
    const [version, signature = ''] = entry.split(',');
    if (version !== VERSION) return [];
    try {
      return [fromBase64(signature)];
    } catch {
      return [];
    }
  });
}

async function hasMatch(
  keys: readonly Key[],
  signatures: readonly Bytes[],
  content: Bytes,
): Promise<boolean> {
  for (const key of keys)
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, content)) return true;
  return false;
}

function concatenate(text: string, bytes: Uint8Array): Bytes {
  const start = new TextEncoder().encode(text);
  const whole = new Uint8Array(start.length + bytes.length);
  whole.set(start);
  whole.set(bytes, start.length);
  return whole;
}

function parsePayload(body: Uint8Array): EventPayload {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof Object(value).type === 'string') return value as EventPayload;
  } catch {
    // Reported below.
  }
  throw new VerificationError('body_invalid', 'The body is not an event.');
}
