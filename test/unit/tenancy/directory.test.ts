import 'aws-sdk-client-mock-vitest/extend';
import {
  CognitoIdentityProviderClient,
  ListUsersCommand,
  type UserType,
} from '@aws-sdk/client-cognito-identity-provider';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { userDirectory } from '../../../functions/tenancy/directory.ts';
import { later, NOW, seconds } from '../../builders.ts';

const cognito = mockClient(CognitoIdentityProviderClient);
const { adminsOf } = userDirectory(new CognitoIdentityProviderClient({}), 'us-east-1_users');
const orgId = newId('org', NOW);

/** An admin of the organization, as Cognito lists one. */
function aUser(
  email: string,
  {
    attributes = {},
    ...changes
  }: Omit<UserType, 'Attributes'> & { attributes?: Record<string, string> } = {},
): UserType {
  const all = {
    email,
    email_verified: 'true',
    preferred_username: orgId,
    'custom:organization': orgId,
    'custom:role': 'admin',
    ...attributes,
  };
  return {
    Enabled: true,
    UserStatus: 'CONFIRMED',
    UserCreateDate: NOW,
    Attributes: Object.entries(all).map(([Name, Value]) => ({ Name, Value })),
    ...changes,
  };
}

beforeEach(() => cognito.reset());

describe('the admins of an organization', () => {
  it('are found by the attribute that Cognito can search', async () => {
    cognito.on(ListUsersCommand).resolves({ Users: [aUser('ada@example.com')] });

    expect(await adminsOf(orgId)).toEqual(['ada@example.com']);

    expect(cognito).toHaveReceivedCommandExactlyOnceWith(ListUsersCommand, {
      UserPoolId: 'us-east-1_users',
      Filter: `preferred_username = "${orgId}"`,
      Limit: 60,
    });
  });

  it('are read from every page, empty pages included, in the order of their creation', async () => {
    const pages = [
      { Users: [aUser('c@example.com', { UserCreateDate: later(NOW, seconds(3)) })], PaginationToken: 'one' },
      { Users: [], PaginationToken: 'two' },
      {
        Users: [
          aUser('b@example.com', { UserCreateDate: later(NOW, seconds(2)) }),
          aUser('a@example.com', { UserCreateDate: later(NOW, seconds(1)) }),
        ],
      },
    ];
    for (const [index, page] of pages.entries())
      cognito
        .on(ListUsersCommand, index === 0 ? {} : { PaginationToken: pages[index - 1]?.PaginationToken })
        .resolves(page);

    expect(await adminsOf(orgId)).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
    expect(cognito).toHaveReceivedCommandTimes(ListUsersCommand, 3);
  });

  it('include those of another identity provider once it has verified their e-mail addresses', async () => {
    const federated = { UserStatus: 'EXTERNAL_PROVIDER' } as const;
    cognito.on(ListUsersCommand).resolves({
      Users: [
        aUser('eve@example.com', { ...federated, attributes: { email_verified: 'false' } }),
        aUser('grace@example.com', federated),
      ],
    });
    expect(await adminsOf(orgId)).toEqual(['grace@example.com']);
  });

  it.each<[string, Parameters<typeof aUser>[1]]>([
    ['is disabled', { Enabled: false }],
    ['was invited and has never signed in', { UserStatus: 'FORCE_CHANGE_PASSWORD' }],
    ['has not confirmed', { UserStatus: 'UNCONFIRMED' }],
    ['has an unverified address', { attributes: { email_verified: 'false' } }],
    ['is a member', { attributes: { 'custom:role': 'member' } }],
    [
      'is of another organization by what tokens say',
      { attributes: { 'custom:organization': newId('org', NOW) } },
    ],
  ])('do not include a user who %s', async (_, changes) => {
    cognito
      .on(ListUsersCommand)
      .resolves({ Users: [aUser('eve@example.com', changes), aUser('ada@example.com')] });
    expect(await adminsOf(orgId)).toEqual(['ada@example.com']);
  });

  it('do not include a user without attributes', async () => {
    cognito.on(ListUsersCommand).resolves({ Users: [{ Enabled: true, UserStatus: 'CONFIRMED' }, {}] });
    expect(await adminsOf(orgId)).toEqual([]);
  });

  it('are not known while Cognito does not answer', async () => {
    cognito.on(ListUsersCommand).rejects(new Error('TooManyRequestsException'));
    await expect(adminsOf(orgId)).rejects.toThrow('TooManyRequests');
  });
});
