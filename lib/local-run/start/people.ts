import type { Identity } from 'aws-local/identity/identity.ts';
import type { LocalEnvironment } from 'terminal/local-run/environment-file.ts';

/** Shared and shown on the sign-in page: it protects nothing. */
const PASSWORD = 'local-run';

/** Users of the local organization, with the shell variables of their tokens. */
const PEOPLE = [
  { email: 'admin@local.test', role: 'admin', variable: 'ADMIN_TOKEN' },
  { email: 'member@local.test', role: 'member', variable: 'MEMBER_TOKEN' },
] as const;

/** Cognito's longest validity of an ID token. */
const TOKEN_SECONDS = 24 * 60 * 60;

/** Shell variables with the users' tokens. */
export type Sessions = Pick<
  LocalEnvironment,
  'ADMIN_TOKEN' | 'MEMBER_TOKEN' | 'OIDC_ISSUER' | 'OIDC_CLIENT_ID'
>;

/** Creates an admin and a member of the organization, and signs a token for each. */
export async function settlePeople(
  identity: Pick<Identity, 'issuer' | 'clientId' | 'setUsers' | 'idToken'>,
  organizationId: string,
): Promise<Sessions> {
  identity.setUsers(
    PEOPLE.map(({ email, role }) => ({
      email,
      password: PASSWORD,
      attributes: {
        'custom:organization': organizationId,
        'custom:role': role,
        // Cognito cannot search custom attributes.
        preferred_username: organizationId,
      },
    })),
  );
  const tokens = await Promise.all(
    PEOPLE.map(async ({ email, variable }) => [
      variable,
      await identity.idToken(email, { lifetimeSeconds: TOKEN_SECONDS }),
    ]),
  );
  return { ...Object.fromEntries(tokens), OIDC_ISSUER: identity.issuer, OIDC_CLIENT_ID: identity.clientId };
}
