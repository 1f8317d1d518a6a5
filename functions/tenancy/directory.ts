import {
  CognitoIdentityProviderClient,
  ListUsersCommand,
  type UserType,
} from '@aws-sdk/client-cognito-identity-provider';
import { clientOptions, countThrottles } from '../aws/clients.ts';
import type { OrgId } from '../aws/ids.ts';

/**
 * Users of a user pool. Cognito searches by few attributes, none of them custom, so the organization is in
 * `preferred_username` as well. That only finds users; the custom attributes decide.
 */
export function userDirectory(client: CognitoIdentityProviderClient, userPool: string) {
  return {
    /**
     * Verified e-mail addresses of an organization's admins, oldest first, in the same order at each call.
     * @throws Cognito's error, such as throttling
     */
    async adminsOf(orgId: OrgId): Promise<string[]> {
      const admins: UserType[] = [];
      let after: string | undefined;
      do {
        const { Users = [], PaginationToken } = await client.send(
          new ListUsersCommand({
            UserPoolId: userPool,
            Filter: `preferred_username = "${orgId}"`,
            // Cognito's maximum.
            Limit: 60,
            ...(after === undefined ? {} : { PaginationToken: after }),
          }),
        );
        admins.push(...Users.filter((user) => isAdminOf(orgId, user)));
        after = PaginationToken;
      } while (after !== undefined);
      return admins.toSorted(compareAge).map((user) => getAttribute(user, 'email') ?? '');
    },
  };
}

/** `EXTERNAL_PROVIDER`: a user of another identity provider. */
const ACTIVE_STATUSES: readonly (string | undefined)[] = ['CONFIRMED', 'EXTERNAL_PROVIDER'];

const isAdminOf = (orgId: OrgId, user: UserType): boolean =>
  user.Enabled === true &&
  ACTIVE_STATUSES.includes(user.UserStatus) &&
  getAttribute(user, 'custom:organization') === orgId &&
  getAttribute(user, 'custom:role') === 'admin' &&
  getAttribute(user, 'email_verified') === 'true' &&
  getAttribute(user, 'email') !== undefined;

const getAttribute = ({ Attributes = [] }: UserType, name: string): string | undefined =>
  Attributes.find(({ Name }) => Name === name)?.Value;

const getCreationTime = ({ UserCreateDate }: UserType): number => UserCreateDate?.getTime() ?? 0;
const compareAge = (a: UserType, b: UserType): number =>
  getCreationTime(a) - getCreationTime(b) || (a.Username ?? '').localeCompare(b.Username ?? '');

export const userPoolClient = (): CognitoIdentityProviderClient =>
  countThrottles(new CognitoIdentityProviderClient(clientOptions()), 'cognito');
