import {
  InvalidParameterException,
  ListUsersCommand,
  type ListUsersCommandInput,
  paginateListUsers,
  ResourceNotFoundException,
} from '@aws-sdk/client-cognito-identity-provider';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startUserDirectory } from '../../src/identity/user-directory.ts';
import { createUsers, type User } from '../../src/identity/users.ts';
import { aUserPool } from '../unit/identity/user-pool-fixture.ts';
import { cognitoClient } from './clients.ts';

const organization = (digit: number) => `org_${String(digit).repeat(32)}`;
const aUser = (name: string, digit = 1, role = 'member'): User => ({
  email: `${name}@local.test`,
  password: 'unused',
  attributes: {
    preferred_username: organization(digit),
    'custom:organization': organization(digit),
    'custom:role': role,
  },
});

async function aDirectory(given: readonly User[]) {
  const pool = aUserPool();
  const users = createUsers(pool);
  users.set(given);
  const engine = await startUserDirectory(pool, users);
  onTestFinished(() => engine.stop());
  const client = cognitoClient(engine.endpoint);
  const input = (changes: Partial<ListUsersCommandInput>) => ({ UserPoolId: pool.id, ...changes });
  return {
    users,
    list: (changes: Partial<ListUsersCommandInput> = {}) => client.send(new ListUsersCommand(input(changes))),
    pages: async (changes: Partial<ListUsersCommandInput>) => {
      const sizes: number[] = [];
      const names: (string | undefined)[] = [];
      for await (const { Users = [] } of paginateListUsers({ client }, input(changes))) {
        sizes.push(Users.length);
        names.push(...Users.map(({ Username }) => Username));
      }
      return { sizes, names };
    },
  };
}

describe('the embedded Cognito', () => {
  it('lists users with their attributes', async () => {
    const { users, list } = await aDirectory([aUser('ada', 1, 'admin')]);
    const id = users.byEmail('ada@local.test')?.id;

    const { Users, PaginationToken } = await list();

    expect(PaginationToken).toBeUndefined();
    expect(Users).toEqual([
      {
        Username: id,
        Enabled: true,
        UserStatus: 'CONFIRMED',
        Attributes: [
          { Name: 'sub', Value: id },
          { Name: 'email', Value: 'ada@local.test' },
          { Name: 'email_verified', Value: 'true' },
          { Name: 'preferred_username', Value: organization(1) },
          { Name: 'custom:organization', Value: organization(1) },
          { Name: 'custom:role', Value: 'admin' },
        ],
      },
    ]);
  });

  it('finds the users of an organization by the one searchable attribute', async () => {
    const { list } = await aDirectory([aUser('ada'), aUser('bob', 2), aUser('eve')]);

    const { Users = [] } = await list({
      Filter: `preferred_username = "${organization(1)}"`,
      AttributesToGet: ['email'],
    });

    expect(
      Users.map(({ Attributes }) => Attributes?.map(({ Name, Value }) => `${Name} ${Value}`)).toSorted(),
    ).toEqual([['email ada@local.test'], ['email eve@local.test']]);
    await expect(list({ Filter: 'custom:role = "admin"' })).rejects.toThrow(InvalidParameterException);
  });

  it('returns pages, with each user on one of them', async () => {
    const { pages } = await aDirectory(Array.from({ length: 130 }, (_, index) => aUser(`user${index}`)));

    const standard = await pages({});
    const small = await pages({ Limit: 50, Filter: 'email ^= "user1"' });

    expect(standard.sizes).toEqual([60, 60, 10]);
    expect(new Set(standard.names).size).toBe(130);
    // user1, user10 to user19, user100 to user129
    expect(small.sizes).toEqual([41]);
  });

  it.each([
    ['more than 60 of them', { Limit: 61 }],
    ['attributes that the pool does not have', { AttributesToGet: ['custom:team'] }],
  ])('refuses to list %s', async (_, changes) => {
    const { list } = await aDirectory([aUser('ada')]);
    await expect(list(changes)).rejects.toThrow(InvalidParameterException);
  });

  it('reports another pool as unknown', async () => {
    const { list } = await aDirectory([aUser('ada')]);
    await expect(list({ UserPoolId: 'us-east-1_Other' })).rejects.toThrow(ResourceNotFoundException);
  });
});
