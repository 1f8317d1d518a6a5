import * as z from 'zod/mini';
import { loadOnce } from '../aws/cache.ts';

/** The issuer cannot be reached, so no token can be verified and no user can sign in. */
export class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable';
}

/** Per request. An API call has time for discovery and keys, two tries each. */
const TIMEOUT_MS = 2_000;
/** Tries of a read: one lost packet must not fail all requests for {@link PAUSE_MS}. */
const TRIES = 2;
/** Pause after a failure, in which no request waits for the issuer. */
const PAUSE_MS = 5_000;

/** Loopback hosts, which no network can impersonate. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function isTamperProof(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
}

const SafeUrl = z.url().check(z.refine(isTamperProof));
/** Sessions can be verified without it, so an invalid value counts as absent. */
const OptionalUrl = z.catch(z.optional(SafeUrl), undefined);

/**
 * @param issuer must match, or one issuer's keys could be taken for another's (OpenID Connect Discovery 1.0,
 * 4.3)
 */
const buildMetadataSchema = (issuer: string) =>
  z.object({
    issuer: z.literal(issuer),
    jwks_uri: SafeUrl,
    authorization_endpoint: OptionalUrl,
    token_endpoint: OptionalUrl,
    revocation_endpoint: OptionalUrl,
    end_session_endpoint: OptionalUrl,
  });
export type IssuerMetadata = z.output<ReturnType<typeof buildMetadataSchema>>;

interface PostedForm {
  status: number;
  /** Undefined when it is not JSON. */
  body: unknown;
}

export interface Issuer {
  /**
   * Reads the discovery document once.
   * @throws IssuerUnavailable also for an invalid document
   */
  metadata(): Promise<IssuerMetadata>;
  /**
   * Tries twice.
   * @throws IssuerUnavailable also for an invalid response
   */
  read<S extends z.ZodMiniType>(url: string, schema: S): Promise<z.output<S>>;
  /**
   * Tries once, because a code or refresh token is valid once; again only when no byte can have been sent.
   * @throws IssuerUnavailable without a response, or when the issuer fails
   */
  post(url: string, fields: Readonly<Record<string, string>>): Promise<PostedForm>;
}

/**
 * The issuer at a URL, with its discovery document below it (OpenID Connect Discovery 1.0, 4).
 * @param timeoutMs per request
 * @throws Error for a URL that could be impersonated on the network
 */
export function issuerAt(issuer: string, timeoutMs = TIMEOUT_MS): Issuer {
  if (!isTamperProof(issuer)) throw new Error('the issuer of sessions must have an https URL');
  const Metadata = buildMetadataSchema(issuer);
  let pausedUntil = 0;

  async function sendRequest<T>(
    url: string,
    init: RequestInit,
    take: (response: Response) => Promise<T>,
    mayRepeat: (cause: unknown) => boolean,
    tries = TRIES,
  ): Promise<T> {
    if (Date.now() < pausedUntil) throw new IssuerUnavailable('the issuer failed moments ago');
    try {
      const response = await fetch(url, {
        ...init,
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
        // A kept connection dies while Lambda has the process frozen, and the next request would use it.
        headers: { accept: 'application/json', connection: 'close' },
      });
      return await take(response);
    } catch (cause) {
      if (tries > 1 && mayRepeat(cause)) return sendRequest(url, init, take, mayRepeat, tries - 1);
      pausedUntil = Date.now() + PAUSE_MS;
      throw new IssuerUnavailable(`the issuer gave no valid response at ${url}`, { cause });
    }
  }

  const read: Issuer['read'] = (url, schema) =>
    sendRequest(
      url,
      {},
      async (response) => {
        if (response.status !== 200) throw new Error(`the issuer answered ${response.status}`);
        return schema.parse(await response.json());
      },
      () => true,
    );

  return {
    read,
    metadata: loadOnce(() => read(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, Metadata)),
    post: (url, fields) =>
      sendRequest(
        url,
        { method: 'POST', body: new URLSearchParams(fields) },
        async (response) => {
          const { status } = response;
          if (status >= 500 || status === 429) throw new Error(`the issuer answered ${status}`);
          const text = await response.text();
          return { status, body: parseJson(text) };
        },
        wasNotSent,
      ),
  };
}

/** Error codes from before a connection exists. */
const BEFORE_CONNECTION = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function wasNotSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && BEFORE_CONNECTION.has(String(cause.code));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
