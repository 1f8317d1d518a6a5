import { describe, expect, it } from 'vitest';
import { claimsOf } from '../../../src/identity/claims.ts';
import { createUsers, type User } from '../../../src/identity/users.ts';
import { aUserPool } from './user-pool-fixture.ts';

const organization = `org_${'0'.repeat(32)}`;

const anAdmin = (overrides: Partial<User> = {}): User => ({
  email: 'admin@local.test',
  password: 'right',
  attributes: { 'custom:organization': organization, 'custom:role': 'admin' },
  ...overrides,
});

function someUsers(...given: User[]) {
  const users = createUsers(aUserPool());
  users.set(given);
  return users;
}

describe('users', () => {
  it('sign in with their e-mail address, in any case, and their password', () => {
    const users = someUsers(anAdmin(), anAdmin({ email: 'other@local.test', password: 'else' }));
    expect(users.authenticate(' Admin@Local.test ', 'right')).toMatchObject({ email: 'admin@local.test' });
    expect(users.authenticate('admin@local.test', 'else')).toBeUndefined();
    expect(users.authenticate('admin@local.test', '')).toBeUndefined();
    expect(users.authenticate('nobody@local.test', 'right')).toBeUndefined();
    expect(users.authenticate('', '')).toBeUndefined();
  });

  it('keep unique ids from run to run', () => {
    const [first, again] = [1, 2].map(() => someUsers(anAdmin(), anAdmin({ email: 'other@local.test' })));
    const ids = first?.all().map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(2);
    expect(again?.all().map(({ id }) => id)).toEqual(ids);
    for (const id of ids) expect(first?.byId(id)?.id).toBe(id);
  });

  it('are replaced by those set later', () => {
    const users = someUsers(anAdmin());
    users.set([anAdmin({ email: 'other@local.test' })]);
    expect(users.byEmail('admin@local.test')).toBeUndefined();
  });

  it.each([
    [
      'that the pool does not define',
      { 'custom:team': 'a' },
      'admin@local.test: the user pool has no attribute custom:team',
    ],
    [
      'that is too long',
      { 'custom:role': 'administrator' },
      'admin@local.test: the user pool takes 5 to 6 characters as custom:role, not 13',
    ],
    [
      'that is too short',
      { 'custom:organization': 'org' },
      'admin@local.test: the user pool takes 36 to 36 characters as custom:organization, not 3',
    ],
  ])('are refused with an attribute %s', (_, attributes, message) => {
    expect(() => someUsers(anAdmin({ attributes }))).toThrow(message);
  });
});

describe('claims', () => {
  const user = () => {
    const [present] = someUsers(anAdmin()).all();
    if (!present) throw new Error('a user that was set is known');
    return present;
  };

  it('contain the user, the organization and the role', () => {
    const present = user();
    expect(claimsOf(present, aUserPool())).toEqual({
      sub: present.id,
      'cognito:username': present.id,
      email: 'admin@local.test',
      email_verified: true,
      'custom:organization': organization,
      'custom:role': 'admin',
    });
  });

  it('omit attributes that the client cannot read', () => {
    expect(claimsOf(user(), { readAttributes: ['email'] })).not.toHaveProperty('custom:role');
  });

  it('omit attributes outside the scopes', () => {
    expect(claimsOf(user(), aUserPool(), 'openid email')).not.toHaveProperty('custom:role');
  });
});
