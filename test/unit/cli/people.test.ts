import type { User } from 'aws-local/identity/users.ts';
import { describe, expect, it } from 'vitest';
import { settlePeople } from '../../../lib/local-run/start/people.ts';

function anIdentity() {
  const set: User[] = [];
  return {
    set,
    issuer: 'http://localhost:20000',
    clientId: 'Dashboard',
    setUsers: (users: readonly User[]) => void set.push(...users),
    idToken: async (email: string, { lifetimeSeconds }: { lifetimeSeconds: number }) =>
      `${email} ${lifetimeSeconds}`,
  };
}

describe('the users of the local organization', () => {
  it('are an admin and a member', async () => {
    const identity = anIdentity();
    await settlePeople(identity, 'org_1');
    const inIt = { 'custom:organization': 'org_1', preferred_username: 'org_1' };
    expect(identity.set.map(({ email, attributes }) => [email, attributes])).toEqual([
      ['admin@local.test', { ...inIt, 'custom:role': 'admin' }],
      ['member@local.test', { ...inIt, 'custom:role': 'member' }],
    ]);
  });

  it('each have a token that is valid for a day', async () => {
    expect(await settlePeople(anIdentity(), 'org_1')).toEqual({
      ADMIN_TOKEN: 'admin@local.test 86400',
      MEMBER_TOKEN: 'member@local.test 86400',
      OIDC_ISSUER: 'http://localhost:20000',
      OIDC_CLIENT_ID: 'Dashboard',
    });
  });
});
