import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { poolUserOf } from '../../../src/identity/pool-user.ts';
import { compileUserFilter } from '../../../src/identity/user-filter.ts';

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
