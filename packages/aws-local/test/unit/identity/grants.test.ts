import { describe, expect, it } from 'vitest';
import { createGrants } from '../../../src/identity/grants.ts';

describe('the store of the identity provider', () => {
  function aMemory() {
    let now = 1_000_000;
    const of = createGrants(() => now);
    return { of, pass: (seconds: number) => (now += seconds * 1000) };
  }

  it('finds a record by its kind and id until it expires', async () => {
    const { of, pass } = aMemory();
    await of('AccessToken').upsert('a', { clientId: 'c' }, 60);
    expect(await of('AccessToken').find('a')).toEqual({ clientId: 'c' });
    expect(await of('RefreshToken').find('a')).toBeUndefined();
    pass(59);
    expect(await of('AccessToken').find('a')).toBeDefined();
    pass(1);
    expect(await of('AccessToken').find('a')).toBeUndefined();
  });

  it('finds a session by its other id', async () => {
    const { of, pass } = aMemory();
    await of('Session').upsert('s', { uid: 'u' }, 60);
    expect(await of('Session').findByUid('u')).toEqual({ uid: 'u' });
    expect(await of('Session').findByUid('v')).toBeUndefined();
    pass(60);
    expect(await of('Session').findByUid('u')).toBeUndefined();
  });

  it('marks a code as used', async () => {
    const { of } = aMemory();
    await of('AuthorizationCode').upsert('c', {}, 60);
    await of('AuthorizationCode').consume('c');
    expect(await of('AuthorizationCode').find('c')).toEqual({ consumed: 1000 });
    await of('AuthorizationCode').consume('never there');
  });

  it('deletes a record, or all of one grant', async () => {
    const { of } = aMemory();
    await of('AccessToken').upsert('a', { grantId: 'g' }, 60);
    await of('AccessToken').upsert('b', { grantId: 'h' }, 60);
    await of('RefreshToken').upsert('r', { grantId: 'g' }, 60);
    await of('AccessToken').revokeByGrantId('g');
    expect(await of('AccessToken').find('a')).toBeUndefined();
    expect(await of('RefreshToken').find('r')).toBeUndefined();
    expect(await of('AccessToken').find('b')).toBeDefined();
    await of('AccessToken').destroy('b');
    expect(await of('AccessToken').find('b')).toBeUndefined();
  });
});
