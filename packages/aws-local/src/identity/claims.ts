import { attributesIn, type UserPool } from './user-pool.ts';
import type { KnownUser } from './users.ts';

/**
 * Claims of a token, with Cognito's names.
 * @param scope of the authorization, space-separated; without one the token has all attributes that the
 *   client can read
 */
export function claimsOf(
  user: KnownUser,
  pool: Pick<UserPool, 'readAttributes'>,
  scope = 'openid',
): Record<string, unknown> {
  const attributes: Record<string, unknown> = { ...user.attributes, email: user.email, email_verified: true };
  const readable = attributesIn(pool, scope).filter((name) => Object.hasOwn(attributes, name));
  return {
    sub: user.id,
    'cognito:username': user.id,
    ...Object.fromEntries(readable.map((name) => [name, attributes[name]])),
  };
}

/** Only ID tokens have it; access tokens and the userinfo endpoint do not. */
export const ID_TOKEN_USE = { token_use: 'id' };
