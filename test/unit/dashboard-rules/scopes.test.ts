import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenScopes, isInUse, SCOPES, type Scope } from '../../../dashboard/src/pages/api-keys/scopes.ts';
import { hasScope, Scope as ServiceScope } from '../../../functions/tenancy/api-keys.ts';

describe('the scopes of a key', () => {
  it('are those of the service', () => {
    expect([...SCOPES].sort()).toEqual([...ServiceScope.options].sort());
  });

  it('show reading beside the writing that implies it', () => {
    expect(chosenScopes([], ['write:webhooks'])).toEqual(['read:webhooks', 'write:webhooks']);
  });

  it('lose writing with reading', () => {
    const before: Scope[] = ['read:webhooks', 'write:webhooks', 'read:knowledge'];
    expect(chosenScopes(before, ['write:webhooks', 'read:knowledge'])).toEqual(['read:knowledge']);
  });

  it('are exactly the permissions of the key, after any clicks', () => {
    const presses = fc.array(fc.constantFrom(...SCOPES), { maxLength: 12 });
    fc.assert(
      fc.property(presses, (pressed) => {
        let chosen: Scope[] = [];
        for (const scope of pressed) {
          const after = chosen.includes(scope) ? chosen.filter((each) => each !== scope) : [...chosen, scope];
          const wasChosen = chosen.includes(scope);
          chosen = chosenScopes(chosen, after);
          expect(chosen.includes(scope)).toBe(!wasChosen);
        }
        expect(SCOPES.filter((scope) => hasScope(chosen, scope))).toEqual(chosen);
      }),
    );
  });
});

describe('a key', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');

  it.each([
    [null, false],
    ['2026-11-20T11:55:00Z', true],
    ['2026-11-19T12:00:01Z', true],
    ['2026-11-19T12:00:00Z', false],
  ])('last used at %s is in use: %s', (lastUsedAt, expected) => {
    expect(isInUse(lastUsedAt, now)).toBe(expected);
  });
});
