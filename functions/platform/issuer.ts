import * as z from 'zod/mini';

/** The issuer cannot be reached, so no token can be verified and no user can sign in. */
export class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable';
}

/** Per request. An API call has time for discovery and keys, two tries each. */
const TIMEOUT_MS = 2_000;
/** Tries of a read: one lost packet must not fail all requests for {@link REST_MS}. */
const TRIES = 2;
/** Pause after a failure, in which no request waits for the issuer. */
const REST_MS = 5_000;

/** Loopback hosts, which no network can impersonate. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function cannotBeAltered(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
}

const address = z.url().check(z.refine(cannotBeAltered));
/** Optional: an invalid value counts as absent. */
const further = z.catch(z.optional(address), undefined);

/**
 * @param issuer must match, or one issuer's keys could be taken for another's (OpenID Connect Discovery 1.0,
 * 4.3)
 */
const buildMetadataSchema = (issuer: string) =>
  z.object({
    issuer: z.literal(issuer),
    jwks_uri: address,
    authorization_endpoint: further,
    token_endpoint: further,
    revocation_endpoint: further,
    end_session_endpoint: further,
  });
export type IssuerMetadata = z.output<ReturnType<typeof buildMetadataSchema>>;

/** Response to a form. */
interface PostedForm {
  status: number;
  /** Undefined when it is not JSON. */
  body: unknown;
}

/** An OpenID Connect issuer. */
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
  if (!cannotBeAltered(issuer)) throw new Error('the issuer of sessions must have an https URL');
  const Metadata = buildMetadataSchema(issuer);
  let restsUntil = 0;
  let known: Promise<IssuerMetadata> | undefined;

  async function ask<T>(
    url: string,
    init: RequestInit,
    take: (response: Response) => Promise<T>,
    mayRepeat: (cause: unknown) => boolean,
    tries = TRIES,
  ): Promise<T> {
    if (Date.now() < restsUntil) throw new IssuerUnavailable('the issuer failed moments ago');
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
      if (tries > 1 && mayRepeat(cause)) return ask(url, init, take, mayRepeat, tries - 1);
      restsUntil = Date.now() + REST_MS;
      throw new IssuerUnavailable(`the issuer gave no answer of use at ${url}`, { cause });
    }
  }

  const read: Issuer['read'] = (url, schema) =>
    ask(
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
    async metadata() {
      known ??= read(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, Metadata).catch(
        (error: unknown) => {
          known = undefined;
          throw error;
        },
      );
      return known;
    },
    post: (url, fields) =>
      ask(
        url,
        { method: 'POST', body: new URLSearchParams(fields) },
        async (response) => {
          const { status } = response;
          if (status >= 500 || status === 429) throw new Error(`the issuer answered ${status}`);
          const text = await response.text();
          return { status, body: parseAnswer(text) };
        },
        wasNotSent,
      ),
  };
}

/** Errors before a connection exists. */
const BEFORE_CONNECTION = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether a request that `fetch` rejected was never sent. */
function wasNotSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && BEFORE_CONNECTION.has(String(cause.code));
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
