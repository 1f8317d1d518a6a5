import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import { hasRole, Role, Session } from '../../../functions/domain/tenant.ts';
import { aSession, NOW } from '../../builders.ts';
import { idsOf } from './arbitraries.ts';

const roles = fc.constantFrom(...Role.options);

describe('a role', () => {
  it('may do what it is named for', () => {
    for (const role of Role.options) expect(hasRole(role, role)).toBe(true);
  });

  it('of an admin may do whatever any role may', () => {
    for (const needed of Role.options) expect(hasRole('admin', needed)).toBe(true);
  });

  it('of a member may not do what admins do', () => {
    expect(hasRole('member', 'admin')).toBe(false);
  });

  it('that may do what another is named for may do all that the other may', () => {
    fc.assert(
      fc.property(roles, roles, roles, (one, other, needed) => {
        if (hasRole(one, other) && hasRole(other, needed)) expect(hasRole(one, needed)).toBe(true);
      }),
    );
  });
});

describe('a session', () => {
  const session = aSession({ role: 'member' });

  it('is a person, an organization, a role and an end, and nothing beside', () => {
    const people = fc.record({
      userId: fc.string({ minLength: 1, maxLength: 255 }),
      orgId: idsOf('org'),
      role: roles,
      email: fc.option(fc.string({ minLength: 1, maxLength: 320 })),
      expiresAt: fc.date({ noInvalidDate: true }),
    });
    fc.assert(
      fc.property(people, fc.dictionary(fc.string(), fc.anything()), (person, beside) => {
        expect(Session.parse({ ...beside, ...person })).toEqual(person);
      }),
    );
  });

  it.each([
    ['without a person', { ...session, userId: undefined }],
    ['of an empty person', { ...session, userId: '' }],
    ['of a person at too great length', { ...session, userId: 'x'.repeat(256) }],
    ['without an organization', { ...session, orgId: undefined }],
    ['of another kind of identifier', { ...session, orgId: newId('key', NOW) }],
    ['of an organization and more', { ...session, orgId: `${session.orgId}#0` }],
    ['without a role', { ...session, role: undefined }],
    ['of an unknown role', { ...session, role: 'owner' }],
    ['with an empty address', { ...session, email: '' }],
    ['without an end', { ...session, expiresAt: undefined }],
    ['that ends at no time', { ...session, expiresAt: new Date(Number.NaN) }],
  ])('is none %s', (_, claims) => {
    expect(Session.safeParse(claims).success).toBe(false);
  });
});
