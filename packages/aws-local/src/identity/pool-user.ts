import type { KnownUser } from './users.ts';

/** A user in Cognito's API (`UserType`). */
export interface PoolUser {
  Username: string;
  Attributes: { Name: string; Value: string }[];
  Enabled: boolean;
  UserStatus: 'CONFIRMED';
}

/** In a pool with e-mail sign-in, the user name is an identifier that Cognito generates, equal to `sub`. */
export function poolUserOf({ id, email, attributes }: KnownUser): PoolUser {
  const all = { sub: id, email, email_verified: 'true', ...attributes };
  return {
    Username: id,
    Attributes: Object.entries(all).map(([Name, Value]) => ({ Name, Value })),
    Enabled: true,
    UserStatus: 'CONFIRMED',
  };
}
