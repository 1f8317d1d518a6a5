import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import * as z from 'zod/mini';
import { loadOnce, refreshedValue } from '../aws/cache.ts';
import { Session } from './tenant.ts';

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

export type Issuer = ReturnType<typeof issuerAt>;

/**
 * The issuer at a URL, with its discovery document below it (OpenID Connect Discovery 1.0, 4).
 * @param timeoutMs per request
 * @throws Error for a URL that could be impersonated on the network
 */
export function issuerAt(issuer: string, timeoutMs = TIMEOUT_MS) {
  if (!isTamperProof(issuer)) throw new Error('the issuer of sessions must have an https URL');
  const Metadata = buildMetadataSchema(issuer);
  let pausedUntil = 0;

  async function request<T>(
    url: string,
    form: URLSearchParams | undefined,
    take: (answer: Answer) => T,
    mayRepeat: (cause: unknown) => boolean,
    tries = TRIES,
  ): Promise<T> {
    if (Date.now() < pausedUntil) throw new IssuerUnavailable('the issuer failed moments ago');
    try {
      return take(await send(url, form, timeoutMs));
    } catch (cause) {
      if (tries > 1 && mayRepeat(cause)) return request(url, form, take, mayRepeat, tries - 1);
      pausedUntil = Date.now() + PAUSE_MS;
      throw new IssuerUnavailable(`the issuer gave no valid response at ${url}`, { cause });
    }
  }

  /**
   * Tries twice.
   * @throws IssuerUnavailable also for an invalid response
   */
  const read = <S extends z.ZodMiniType>(url: string, schema: S): Promise<z.output<S>> =>
    request(
      url,
      undefined,
      ({ status, body }) => {
        if (status !== 200) throw new Error(`the issuer answered ${status}`);
        return schema.parse(JSON.parse(body));
      },
      () => true,
    );

  return {
    read,

    /**
     * Reads the discovery document once.
     * @throws IssuerUnavailable also for an invalid document
     */
    metadata: loadOnce(() => read(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, Metadata)),

    /**
     * Tries once, because a code or refresh token is valid once; again only when no byte can have been sent.
     * @returns the status, and the body unless it is not JSON
     * @throws IssuerUnavailable without a response, or when the issuer fails
     */
    post: (
      url: string,
      fields: Readonly<Record<string, string>>,
    ): Promise<{ status: number; body: unknown }> =>
      request(
        url,
        new URLSearchParams(fields),
        ({ status, body }) => {
          if (status >= 500 || status === 429) throw new Error(`the issuer answered ${status}`);
          return { status, body: parseJson(body) };
        },
        wasNotSent,
      ),
  };
}

interface Answer {
  status: number;
  body: string;
}

/**
 * By Node's own client, because the one behind `fetch` takes 45 ms of processor time to load, half as much as
 * the rest of a cold start.
 */
async function send(url: string, form: URLSearchParams | undefined, timeoutMs: number): Promise<Answer> {
  const { protocol } = new URL(url);
  const client = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const call = client.request(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      // A kept connection dies while Lambda has the process frozen, and the next request would use it.
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
    });
    call.on('response', resolve).on('error', reject).end(form?.toString());
  });
  const { statusCode: status = 0 } = response;
  const body = await text(response);
  if (status >= 300 && status < 400) throw new Error('the issuer redirects');
  return { status, body };
}

/** Error codes from before a connection exists. */
const BEFORE_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

const wasNotSent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && BEFORE_CONNECTION.has(String(error.code));

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whose tokens are accepted, and which claims describe a session. */
export interface SessionSettings {
  /** Exactly as in `iss`. */
  issuer: string;
  audience: string;
  organizationClaim: string;
  roleClaim: string;
}

/**
 * Asymmetric algorithms only: `none` proves nothing, and HMAC would use a public key as its secret (RFC 8725,
 * 3.1).
 */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
/** Allowed clock difference to the issuer. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** Characters; above any header that the gateway accepts. */
const MAX_LENGTH = 8 * 1024;
/** A signed token in its compact form (RFC 7515, 3.1): three parts, none empty. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Maximum age of keys, so that withdrawn ones go out of use. */
const FRESH_MS = 10 * 60_000;
/** Minimum interval between reads for an unknown key id, which any caller can make up. */
const COOLDOWN_MS = 30_000;

const JwkSet = z.object({ keys: z.array(z.looseObject({})) });

export type IdTokenReader = ReturnType<typeof idTokenReader>;

/**
 * Verifies ID tokens of one issuer (docs/specification.md, Authentication): signature, issuer, audience,
 * times, and that it is an ID token.
 */
export function idTokenReader(
  { issuer, audience, organizationClaim, roleClaim }: SessionSettings,
  at: Issuer = issuerAt(issuer),
) {
  const keys = keysOf(at);

  /**
   * @returns the claims, without a session when they name no organization or role; undefined when the token
   * is invalid for any reason
   * @throws IssuerUnavailable when the issuer's keys cannot be read
   */
  async function read(token: string) {
    if (token.length > MAX_LENGTH || !COMPACT.test(token)) return undefined;
    try {
      const { protectedHeader, payload } = await jwtVerify(token, keys.find, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        requiredClaims: ['exp', 'iat', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
      if (!isIdToken(protectedHeader, payload, audience)) return undefined;
      const claims = {
        userId: payload.sub,
        orgId: payload[organizationClaim],
        role: payload[roleClaim],
        // An oversized address does not invalidate a token.
        email: Session.shape.email.safeParse(payload.email).data ?? null,
        expiresAt: new Date((payload.exp ?? 0) * 1000),
      };
      const nonce = typeof payload.nonce === 'string' ? payload.nonce : undefined;
      return { session: Session.safeParse(claims).data, nonce };
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  return {
    read,

    /**
     * Loads the keys before a one-time token is requested.
     * @throws IssuerUnavailable
     */
    async ready(): Promise<void> {
      await keys.get();
    },
  };
}

/** The keys of an issuer. Old ones are not used, so that withdrawn keys go out of use. */
function keysOf(at: Issuer) {
  const keys = refreshedValue(
    async () => {
      const { jwks_uri } = await at.metadata();
      const find = createLocalJWKSet((await at.read(jwks_uri, JwkSet)) as JSONWebKeySet);
      return { find, readAt: Date.now() };
    },
    { freshMs: FRESH_MS, now: () => Date.now() },
  );
  /** Reads them again for an unknown key id, because issuers rotate keys without notice. */
  const find: JWTVerifyGetKey = async (header, token) => {
    const known = await keys.get();
    try {
      return await known.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || Date.now() - known.readAt < COOLDOWN_MS)
        throw error;
      return (await keys.reload()).find(header, token);
    }
  };
  return { find, get: keys.get };
}

/** @returns the session of a token as {@link idTokenReader} reads it; undefined when it is invalid */
export function sessionVerifier(settings: SessionSettings, at?: Issuer) {
  const { read } = idTokenReader(settings, at);
  return async (token: string): Promise<Session | undefined> => (await read(token))?.session;
}

/**
 * Whether a token is an ID token for this client. Access tokens have the same signing keys: the type (RFC
 * 8725, 3.11) or Cognito's `token_use` distinguishes them. A token for several clients names the requester in
 * `azp` (OpenID Connect Core 1.0, 3.1.3.7).
 */
function isIdToken(
  { typ }: JWTHeaderParameters,
  { token_use, aud, azp }: JWTPayload,
  audience: string,
): boolean {
  const isAudience = azp === undefined ? typeof aud === 'string' || aud?.length === 1 : azp === audience;
  return (
    isAudience &&
    (token_use === undefined || token_use === 'id') &&
    (typ === undefined || /^(application\/)?jwt$/i.test(typ))
  );
}
