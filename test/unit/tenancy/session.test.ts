import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { hasRole, Role, Session } from '../../../functions/tenancy/tenant.ts';
import { aSession, NOW } from '../../builders.ts';
import { idsOf } from '../aws/arbitraries.ts';

const roles = fc.constantFrom(...Role.options);

describe('role', () => {
  it('has its own permissions', () => {
    for (const role of Role.options) expect(hasRole(role, role)).toBe(true);
  });

  it('of an admin has all permissions', () => {
    for (const needed of Role.options) expect(hasRole('admin', needed)).toBe(true);
  });

  it("of a member does not have an admin's permissions", () => {
    expect(hasRole('member', 'admin')).toBe(false);
  });

  it('is transitive', () => {
    fc.assert(
      fc.property(roles, roles, roles, (one, other, needed) => {
        if (hasRole(one, other) && hasRole(other, needed)) expect(hasRole(one, needed)).toBe(true);
      }),
    );
  });
});

describe('session', () => {
  const session = aSession({ role: 'member' });

  it('has a user, an organization, a role and an end, and no other field', () => {
    const users = fc.record({
      userId: fc.string({ minLength: 1, maxLength: 255 }),
      orgId: idsOf('org'),
      role: roles,
      email: fc.option(fc.string({ minLength: 1, maxLength: 320 })),
      expiresAt: fc.date({ noInvalidDate: true }),
    });
    fc.assert(
      fc.property(users, fc.dictionary(fc.string(), fc.anything()), (user, beside) => {
        expect(Session.parse({ ...beside, ...user })).toEqual(user);
      }),
    );
  });

  it.each([
    ['without a user', { ...session, userId: undefined }],
    ['with an empty user id', { ...session, userId: '' }],
    ['with a user id that is too long', { ...session, userId: 'x'.repeat(256) }],
    ['without an organization', { ...session, orgId: undefined }],
    ['with an id of another type', { ...session, orgId: newId('key', NOW) }],
    ['with a longer organization id', { ...session, orgId: `${session.orgId}#0` }],
    ['without a role', { ...session, role: undefined }],
    ['with an unknown role', { ...session, role: 'owner' }],
    ['with an empty address', { ...session, email: '' }],
    ['without an end', { ...session, expiresAt: undefined }],
    ['with an invalid end', { ...session, expiresAt: new Date(Number.NaN) }],
  ])('is rejected %s', (_, claims) => {
    expect(Session.safeParse(claims).success).toBe(false);
  });
});
