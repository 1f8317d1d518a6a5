import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimsOf } from '../../../src/identity/claims.ts';
import { poolUserOf } from '../../../src/identity/pool-user.ts';
import { compileUserFilter } from '../../../src/identity/user-filter.ts';
import { attributesIn } from '../../../src/identity/user-pool.ts';
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

const ada = poolUserOf({
  id: '0c1c5c9f-0d35-5e0b-9a53-6f2f7f0e7a06',
  email: 'Ada@local.test',
  password: 'unused',
  attributes: { preferred_username: 'org_1', name: 'Ada', 'custom:role': 'admin' },
});

describe('a filter of users', () => {
  it.each([
    ['email = "ada@local.test"', true],
    ['email = "ada"', false],
    ['email ^= "ada@"', true],
    ['preferred_username = "org_1"', true],
    ['preferred_username="org_1"', true],
    ['"preferred_username" = "org_1"', true],
    ['preferred_username = "org_"', false],
    ['name ^= "A"', true],
    ['name ^= "a"', false],
    ['family_name ^= ""', false],
    ['username = "0c1c5c9f-0d35-5e0b-9a53-6f2f7f0e7a06"', true],
    ['sub ^= "0c1c"', true],
    ['status = "Enabled"', true],
    ['status = "enabled"', false],
    ['cognito:user_status = "confirmed"', true],
    ['', true],
  ])('finds Ada by %s: %s', (filter, isMatch) => {
    expect(compileUserFilter(filter)?.(ada)).toBe(isMatch);
  });

  it.each([
    'custom:role = "admin"',
    'custom:organization = "org_1"',
    'nickname = "Ada"',
    'email',
    'email = ada@local.test',
    'email != "a"',
    'email = "a" or email = "b"',
    'email = "a"b"',
  ])('is refused when it is %s', (filter) => {
    expect(compileUserFilter(filter)).toBeUndefined();
  });

  it('matches a value with any characters, quotation marks escaped', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, other) => {
        const user = { ...ada, Attributes: [{ Name: 'name', Value: name }] };
        const quoted = (text: string) => text.replaceAll(/["\\]/g, '\\$&');
        expect(compileUserFilter(`name = "${quoted(name)}"`)?.(user)).toBe(true);
        expect(compileUserFilter(`name = "${quoted(other)}"`)?.(user)).toBe(name === other);
        expect(compileUserFilter(`name ^= "${quoted(name.slice(0, 3))}"`)?.(user)).toBe(true);
      }),
    );
  });
});

const readAttributes = ['email', 'email_verified', 'name', 'phone_number', 'custom:role'];

describe('attributes in a token', () => {
  it.each([
    ['openid', readAttributes],
    ['openid aws.cognito.signin.user.admin', readAttributes],
    ['openid email', ['email', 'email_verified']],
    ['openid phone', ['phone_number']],
    ['openid profile', ['name', 'custom:role']],
    ['openid profile email', ['email', 'email_verified', 'name', 'custom:role']],
  ])('are, for the scope %s, %j', (scope, expected) => {
    expect(attributesIn({ readAttributes }, scope)).toEqual(expected);
  });

  it('are only those that the client can read', () => {
    const scopes = fc.subarray(['openid', 'profile', 'email', 'phone', 'other']).map((all) => all.join(' '));
    fc.assert(
      fc.property(scopes, fc.subarray(readAttributes), (scope, readable) => {
        expect(readable).toEqual(expect.arrayContaining(attributesIn({ readAttributes: readable }, scope)));
      }),
    );
  });
});
