import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateSecretString } from '../../src/engines/secret-string.ts';

const kinds = {
  ExcludeLowercase: /[a-z]/,
  ExcludeUppercase: /[A-Z]/,
  ExcludeNumbers: /[0-9]/,
  ExcludePunctuation: /[^A-Za-z0-9 ]/,
};

describe('a generated secret', () => {
  it('has by default 32 characters of every kind except spaces', () => {
    const secret = generateSecretString({}, randomInt);

    expect(secret).toHaveLength(32);
    for (const kind of Object.values(kinds)) expect(secret).toMatch(kind);
    expect(secret).not.toContain(' ');
  });

  it('has the right length and exactly the included kinds, for any options', () => {
    const flags = fc.record({
      ExcludeLowercase: fc.boolean(),
      ExcludeUppercase: fc.boolean(),
      ExcludeNumbers: fc.boolean(),
      ExcludePunctuation: fc.boolean(),
    });
    fc.assert(
      fc.property(
        flags,
        fc.integer({ min: 5, max: 80 }),
        fc.infiniteStream(fc.nat()),
        (rule, length, choices) => {
          fc.pre(Object.values(rule).includes(false));
          const random = (below: number) => Number(choices.next().value) % below;

          const secret = generateSecretString(
            { ...rule, PasswordLength: length, ExcludeCharacters: 'aA0!' },
            random,
          );

          expect(secret).toHaveLength(length);
          expect(secret).not.toMatch(/[aA0!]/);
          for (const [name, kind] of Object.entries(kinds)) {
            expect(kind.test(secret)).toBe(!rule[name as keyof typeof rule]);
          }
        },
      ),
    );
  });

  it('is a member of the template where there is one', () => {
    const rule = {
      SecretStringTemplate: '{"version":1}',
      GenerateStringKey: 'key',
      ExcludePunctuation: true,
    };

    expect(JSON.parse(generateSecretString(rule, randomInt))).toEqual({
      version: 1,
      key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
    });
  });

  it('is refused when no character is left', () => {
    const rule = {
      ExcludeLowercase: true,
      ExcludeUppercase: true,
      ExcludeNumbers: true,
      ExcludePunctuation: true,
    };
    expect(() => generateSecretString(rule, randomInt)).toThrow('leaves no password of 32 characters');
  });
});
