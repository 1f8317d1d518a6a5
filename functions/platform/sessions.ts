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
import { Session } from '../domain/tenant.ts';
import { type Issuer, issuerAt } from './issuer.ts';

/** Whose tokens are sessions, and where they say what a session is. */
export interface SessionTerms {
  /** Exactly as the tokens' `iss` says it. */
  issuer: string;
  /** The client that they are for (`aud`). */
  audience: string;
  organizationClaim: string;
  roleClaim: string;
}

/** What is too long for an address makes no token worse. */
const shownEmail = Session.shape.email;

/**
 * Signatures by a private key alone: `none` proves nothing, and HMAC would take a public key for its secret
 * (RFC 8725, 3.1).
 */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
/** How far the issuer's clock may be from ours. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** Characters; more than any header field that the gateway lets through could hold in earnest. */
const MAX_LENGTH = 8 * 1024;
/** A signed token in its compact form (RFC 7515, 3.1): three parts, none empty. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** What a token of the issuer for this client says, whether or not it makes anybody a session. */
interface IdToken {
  /** Absent when the token names no organization of ours or no role. */
  session: Session | undefined;
  /** Of the sign-in that the token was made for. */
  nonce: string | undefined;
}

export interface IdTokenReader {
  /**
   * @returns what a token says, or undefined when it is none of the issuer's for us, whatever the reason
   * @throws IssuerUnavailable when that cannot be told because the issuer's keys are not to be had
   */
  read(token: string): Promise<IdToken | undefined>;
  /** Makes sure of the keys, before a token is asked for that is given out once. @throws IssuerUnavailable */
  ready(): Promise<void>;
}

/**
 * Verifies ID tokens of one issuer (decisions.md, Authentication): signature, issuer, audience and times, and
 * that it is a token which says who signed in rather than one of another use.
 */
export function idTokenReader(
  { issuer, audience, organizationClaim, roleClaim }: SessionTerms,
  at: Issuer = issuerAt(issuer),
): IdTokenReader {
  const { keyOf, ready } = issuerKeys(at);

  async function read(token: string): Promise<IdToken | undefined> {
    if (token.length > MAX_LENGTH || !COMPACT.test(token)) return undefined;
    try {
      const { protectedHeader, payload } = await jwtVerify(token, keyOf, {
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
        email: shownEmail.safeParse(payload.email).data ?? null,
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
 * @returns gives the session that a token stands for, or undefined when it stands for none; throws as {@link
 *   IdTokenReader.read}
 */
export function sessionVerifier(
  terms: SessionTerms,
  at?: Issuer,
): (token: string) => Promise<Session | undefined> {
  const { read } = idTokenReader(terms, at);
  return async (token) => (await read(token))?.session;
}

/**
 * Whether a token is an ID token for this client. Access tokens and others of the same issuer are signed by
 * the same keys: their type (RFC 8725, 3.11) or Cognito's `token_use` tells them apart. A token for several
 * clients names the one that asked for it in `azp` (OpenID Connect Core 1.0, 3.1.3.7).
 */
function isIdToken(
  { typ }: JWTHeaderParameters,
  { token_use, aud, azp }: JWTPayload,
  audience: string,
): boolean {
  const forUs = azp === undefined ? typeof aud === 'string' || aud?.length === 1 : azp === audience;
  return (
    forUs &&
    (token_use === undefined || token_use === 'id') &&
    (typ === undefined || /^(application\/)?jwt$/i.test(typ))
  );
}

/**
 * How long keys are used before they are read again, so that one which the issuer withdraws goes out of use.
 */
const FRESH_MS = 10 * 60_000;
/** At most so often an unknown key identifier, which anybody can make up, has the keys read again. */
const COOLDOWN_MS = 30_000;

const JwkSet = z.object({ keys: z.array(z.looseObject({})) });

interface IssuerKeys {
  /**
   * Throws IssuerUnavailable, also when the issuer's answers are not of the form that the specification gives
   * them; an error of jose when no key fits the token.
   */
  keyOf: JWTVerifyGetKey;
  /** Has keys ready that are fresh. @throws IssuerUnavailable */
  ready(): Promise<void>;
}

/**
 * The published keys of an issuer of tokens: asked for when the first token comes, then kept. A key that is
 * not among them has them read again, since issuers change their keys without notice.
 */
function issuerKeys(issuer: Issuer): IssuerKeys {
  let known: Promise<RemoteJWKSet> | undefined;

  async function discovered(): Promise<RemoteJWKSet> {
    const { jwks_uri } = await issuer.metadata();
    return createRemoteJWKSet(new URL(jwks_uri), {
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: FRESH_MS,
      // With the timeout of all requests to the issuer.
      [customFetch]: async (url) => Response.json(await issuer.read(url, JwkSet)),
    });
  }

  async function set(): Promise<RemoteJWKSet> {
    known ??= discovered().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  return {
    keyOf: async (header, token) => (await set())(header, token),
    async ready() {
      const keys = await set();
      if (!keys.fresh) await keys.reload();
    },
  };
}
