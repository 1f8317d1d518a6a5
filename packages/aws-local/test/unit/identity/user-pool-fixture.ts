import type { UserPool } from '../../../src/identity/user-pool.ts';

/** A pool of users with an organization and a role, whose client uses the sign-in page. */
export const aUserPool = (overrides: Partial<UserPool> = {}): UserPool => ({
  id: 'us-east-1_Users',
  clientId: 'Dashboard',
  customAttributes: new Map([
    ['custom:organization', { minLength: 36, maxLength: 36 }],
    ['custom:role', { minLength: 5, maxLength: 6 }],
  ]),
  readAttributes: ['email', 'email_verified', 'name', 'custom:organization', 'custom:role'],
  scopes: ['openid', 'email', 'profile'],
  callbackUrls: ['http://localhost:3000/signed-in'],
  logoutUrls: ['http://localhost:3000/signed-out'],
  revocation: true,
  rotation: false,
  lifetimes: { idToken: 1800, accessToken: 1200, refreshToken: 86_400 },
  ...overrides,
});
