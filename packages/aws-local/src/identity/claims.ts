import { attributesIn, type UserPool } from './user-pool.ts';
import type { KnownUser } from './users.ts';

/**
 * What a token says of a user, with Cognito's names for it.
 *
 * @param scope of the authorization, space-separated; a token that is given out without one says all that the
 * client can read
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

/** Only ID tokens say so; access tokens and the userinfo endpoint do not. */
export const ID_TOKEN_USE = { token_use: 'id' };
