import * as z from 'zod/mini';

/** The issuer cannot be asked at the moment, so that no token of it can be judged and nobody can sign in. */
export class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable';
}

/** For each request to the issuer. An API call has time for discovery and keys, each asked for twice. */
const TIMEOUT_MS = 2_000;
/** How often something is asked for: one lost packet must not turn everybody away for {@link REST_MS}. */
const TRIES = 2;
/** After a failure the issuer is left alone for so long; meanwhile nobody waits for it. */
const REST_MS = 5_000;

/** Hosts that only this machine can be: there are no networks on the way that could change what they say. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function cannotBeAltered(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
}

const address = z.url().check(z.refine(cannotBeAltered));
/** Sessions can be judged without it, so that a wrong one counts as none. */
const further = z.catch(z.optional(address), undefined);

/**
 * @param issuer otherwise one issuer could have its keys taken for those of another (OpenID Connect Discovery
 * 1.0, 4.3)
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
/** What an issuer says of itself. */
export type IssuerMetadata = z.output<ReturnType<typeof buildMetadataSchema>>;

/** What came back from a form. */
interface PostedForm {
  status: number;
  /** Undefined when it is no JSON. */
  body: unknown;
}

/** An OpenID Connect issuer, as far as it is asked. */
export interface Issuer {
  /**
   * Asked for when it is first needed, then kept. @throws IssuerUnavailable also when it is not of the
   * specified form
   */
  metadata(): Promise<IssuerMetadata>;
  /** Asks twice. @throws IssuerUnavailable also when the answer is not of this form */
  read<S extends z.ZodMiniType>(url: string, schema: S): Promise<z.output<S>>;
  /**
   * Asks once, because a code or a refresh token is good once; again only where no byte of it can have been sent.
   * @throws IssuerUnavailable when there is no answer, or a failure of the issuer's own
   */
  post(url: string, fields: Readonly<Record<string, string>>): Promise<PostedForm>;
}

/**
 * The issuer at an address, whose discovery document is below it (OpenID Connect Discovery 1.0, 4).
 * @param timeoutMs for each request
 * @throws Error at once, when the issuer could be impersonated on the network
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
        // A connection that is kept dies while the platform has this process frozen, and the next request
        // would go into it.
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

/** What fails before there is a connection that a request could go over. */
const BEFORE_CONNECTION = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether a request that `fetch` rejected never left. */
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
