import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attributesIn } from '../../../src/identity/user-pool.ts';

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
