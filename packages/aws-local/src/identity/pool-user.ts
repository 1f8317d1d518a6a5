import type { KnownUser } from './users.ts';

/** A user as Cognito's API shows him (`UserType`). */
export interface PoolUser {
  Username: string;
  Attributes: { Name: string; Value: string }[];
  Enabled: boolean;
  UserStatus: 'CONFIRMED';
}

/**
 * Where people sign in with their address, their name is an identifier of Cognito's choice: the same as
 * `sub`.
 */
export function poolUserOf({ id, email, attributes }: KnownUser): PoolUser {
  const all = { sub: id, email, email_verified: 'true', ...attributes };
  return {
    Username: id,
    Attributes: Object.entries(all).map(([Name, Value]) => ({ Name, Value })),
    Enabled: true,
    UserStatus: 'CONFIRMED',
  };
}
