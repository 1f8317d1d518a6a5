import type { Identity } from 'aws-local/identity/identity.ts';
import type { LocalEnvironment } from '../environment-file.ts';

/** One for both, shown on the sign-in page: it protects nothing. */
const PASSWORD = 'local-run';

/** The people of the local organization, and the names that shells know their tokens by. */
const PEOPLE = [
  { email: 'admin@local.test', role: 'admin', variable: 'ADMIN_TOKEN' },
  { email: 'member@local.test', role: 'member', variable: 'MEMBER_TOKEN' },
] as const;

/** The longest that Cognito lets an ID token be valid. */
const TOKEN_SECONDS = 24 * 60 * 60;

/** What a shell needs to call the API as one of these people. */
export type Sessions = Pick<
  LocalEnvironment,
  'ADMIN_TOKEN' | 'MEMBER_TOKEN' | 'OIDC_ISSUER' | 'OIDC_CLIENT_ID'
>;

/**
 * Makes an admin and a member the organization's people, who can sign in from now on, and signs a token for
 * each.
 */
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
        // Cognito searches no custom attribute.
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
