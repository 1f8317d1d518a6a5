import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  type RemoteJWKSet,
} from 'jose';
import * as z from 'zod/mini';
import { loadOnce } from '../aws/cache.ts';
import { type Issuer, issuerAt } from './issuer.ts';
import { Session } from './tenant.ts';

/** Whose tokens are accepted, and which claims describe a session. */
export interface SessionSettings {
  /** Exactly as in `iss`. */
  issuer: string;
  audience: string;
  organizationClaim: string;
  roleClaim: string;
}

/** An oversized address does not invalidate a token. */
const EmailAddress = Session.shape.email;

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

/** Verified claims of an ID token, with or without a session. */
interface IdToken {
  /** Absent when the token names no organization or no role. */
  session: Session | undefined;
  nonce: string | undefined;
}

export interface IdTokenReader {
  /**
   * @returns the claims; undefined when the token is invalid for any reason
   * @throws IssuerUnavailable when the issuer's keys cannot be read
   */
  read(token: string): Promise<IdToken | undefined>;
  /**
   * Loads the keys before a one-time token is requested.
   * @throws IssuerUnavailable
   */
  ready(): Promise<void>;
}

/**
 * Verifies ID tokens of one issuer (docs/specification.md, Authentication): signature, issuer, audience,
 * times, and that it is an ID token.
 */
export function idTokenReader(
  { issuer, audience, organizationClaim, roleClaim }: SessionSettings,
  at: Issuer = issuerAt(issuer),
): IdTokenReader {
  const { getKey, ready } = issuerKeys(at);

  async function read(token: string): Promise<IdToken | undefined> {
    if (token.length > MAX_LENGTH || !COMPACT.test(token)) return undefined;
    try {
      const { protectedHeader, payload } = await jwtVerify(token, getKey, {
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
        email: EmailAddress.safeParse(payload.email).data ?? null,
        expiresAt: new Date((payload.exp ?? 0) * 1000),
      };
      const { nonce } = payload;
      return {
        session: Session.safeParse(claims).data,
        nonce: typeof nonce === 'string' ? nonce : undefined,
      };
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  return { read, ready };
}

/**
 * @returns a function for the session of a token; undefined when it is invalid; throws as {@link
 * IdTokenReader.read}
 */
export function sessionVerifier(
  settings: SessionSettings,
  at?: Issuer,
): (token: string) => Promise<Session | undefined> {
  const { read } = idTokenReader(settings, at);
  return async (token) => (await read(token))?.session;
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

/** Maximum age of keys, so that withdrawn ones go out of use. */
const FRESH_MS = 10 * 60_000;
/** Minimum interval between reads for an unknown key id, which any caller can make up. */
const COOLDOWN_MS = 30_000;

const JwkSet = z.object({ keys: z.array(z.looseObject({})) });

interface IssuerKeys {
  /** Throws IssuerUnavailable, also for invalid responses of the issuer; jose's error when no key fits. */
  getKey: JWTVerifyGetKey;
  /** @throws IssuerUnavailable */
  ready(): Promise<void>;
}

/**
 * Published keys of an issuer, read with the first token and cached. An unknown key id reads them again,
 * because issuers rotate keys without notice.
 */
function issuerKeys(issuer: Issuer): IssuerKeys {
  const getKeySet = loadOnce(async (): Promise<RemoteJWKSet> => {
    const { jwks_uri } = await issuer.metadata();
    return createRemoteJWKSet(new URL(jwks_uri), {
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: FRESH_MS,
      // Through the issuer's client, for its timeout.
      [customFetch]: async (url) => Response.json(await issuer.read(url, JwkSet)),
    });
  });

  return {
    getKey: async (header, token) => (await getKeySet())(header, token),
    async ready() {
      const keys = await getKeySet();
      if (!keys.fresh) await keys.reload();
    },
  };
}
