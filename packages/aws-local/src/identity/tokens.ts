import { randomUUID } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import { claimsOf, ID_TOKEN_USE } from './claims.ts';
import type { SigningKey } from './state.ts';
import type { UserPool } from './user-pool.ts';
import type { KnownUser } from './users.ts';

/** Issues an ID token without a sign-in page, as Cognito's `AdminInitiateAuth` does. */
export async function signIdToken(
  user: KnownUser,
  options: { issuer: string; pool: UserPool; key: SigningKey; lifetimeSeconds: number },
): Promise<string> {
  const { issuer, pool, key, lifetimeSeconds } = options;
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ ...claimsOf(user, pool), ...ID_TOKEN_USE, auth_time: now })
    .setProtectedHeader({ alg: key.alg, kid: key.kid })
    .setIssuer(issuer)
    .setAudience(pool.clientId)
    .setIssuedAt(now)
    .setExpirationTime(now + lifetimeSeconds)
    .setJti(randomUUID())
    .sign(await importJWK(key, key.alg));
}
