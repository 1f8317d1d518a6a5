import {
  CognitoIdentityProviderClient,
  ListUsersCommand,
  type UserType,
} from '@aws-sdk/client-cognito-identity-provider';
import type { OrgId } from '../domain/ids.ts';
import { clientOptions } from './clients/clients.ts';
import { countThrottles } from './clients/throttles.ts';

/** Users that Cognito gives in one answer at most. */
const PAGE = 60;

/**
 * The people of a user pool. Cognito finds users by few attributes, none of which is one of ours, so their
 * organization stands in `preferred_username` as well: that only finds them, and whom it finds is judged by
 * what tokens carry.
 */
export function userDirectory(client: CognitoIdentityProviderClient, userPool: string) {
  return {
    /**
     * The addresses of the admins of an organization that are known to be theirs, whoever was added first
     * first.
     * @throws what Cognito answers, as when it throttles
     */
    async adminsOf(orgId: OrgId): Promise<string[]> {
      const admins: UserType[] = [];
      let after: string | undefined;
      do {
        const { Users = [], PaginationToken } = await client.send(
          new ListUsersCommand({
            UserPoolId: userPool,
            Filter: `preferred_username = "${orgId}"`,
            Limit: PAGE,
            ...(after === undefined ? {} : { PaginationToken: after }),
          }),
        );
        admins.push(...Users.filter((user) => isAdminOf(orgId, user)));
        after = PaginationToken;
      } while (after !== undefined);
      return admins
        .toSorted((a, b) => getCreationTime(a) - getCreationTime(b))
        .map((user) => getAttribute(user, 'email') ?? '');
    },
  };
}

/** `EXTERNAL_PROVIDER`: from another identity provider, which Cognito asks for their password. */
const ACTIVE: readonly (string | undefined)[] = ['CONFIRMED', 'EXTERNAL_PROVIDER'];

const isAdminOf = (orgId: OrgId, user: UserType): boolean =>
  user.Enabled === true &&
  ACTIVE.includes(user.UserStatus) &&
  getAttribute(user, 'custom:organization') === orgId &&
  getAttribute(user, 'custom:role') === 'admin' &&
  getAttribute(user, 'email_verified') === 'true' &&
  getAttribute(user, 'email') !== undefined;

const getAttribute = ({ Attributes = [] }: UserType, name: string): string | undefined =>
  Attributes.find(({ Name }) => Name === name)?.Value;

const getCreationTime = ({ UserCreateDate }: UserType): number => UserCreateDate?.getTime() ?? 0;

export const userPoolClient = (): CognitoIdentityProviderClient =>
  countThrottles(new CognitoIdentityProviderClient(clientOptions()), 'cognito');
