import { errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import { Session } from '../domain/session.ts';
import { type Issuer, issuerAt } from './issuer.ts';
import { issuerKeys } from './issuer-keys.ts';

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

/** Signatures by a private key alone: `none` proves nothing, and HMAC would take a public key for its secret (RFC 8725, 3.1). */
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
 * Verifies ID tokens of one issuer (decisions.md, Authentication): signature, issuer, audience and times, and that it is a token
 * which says who signed in rather than one of another use.
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

/** @returns gives the session that a token stands for, or undefined when it stands for none; throws as {@link IdTokenReader.read} */
export function sessionVerifier(
  terms: SessionTerms,
  at?: Issuer,
): (token: string) => Promise<Session | undefined> {
  const { read } = idTokenReader(terms, at);
  return async (token) => (await read(token))?.session;
}

/**
 * Whether a token is an ID token for this client. Access tokens and others of the same issuer are signed by the same keys: their
 * type (RFC 8725, 3.11) or Cognito's `token_use` tells them apart. A token for several clients names the one that asked for it in
 * `azp` (OpenID Connect Core 1.0, 3.1.3.7).
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
