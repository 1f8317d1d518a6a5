import { LocalRunError } from '../errors.ts';

/**
 * `GenerateSecretString` of an `AWS::SecretsManager::Secret`, under the names that CloudFormation gives its
 * members.
 */
export interface SecretStringRule {
  SecretStringTemplate?: string | undefined;
  GenerateStringKey?: string | undefined;
  PasswordLength?: number | undefined;
  ExcludeCharacters?: string | undefined;
  ExcludeLowercase?: boolean | undefined;
  ExcludeNumbers?: boolean | undefined;
  ExcludePunctuation?: boolean | undefined;
  ExcludeUppercase?: boolean | undefined;
  IncludeSpace?: boolean | undefined;
  RequireEachIncludedType?: boolean | undefined;
}

/** An even choice among 0 … `below` - 1, for example `crypto.randomInt`. */
export type RandomIndex = (below: number) => number;

/**
 * The secret that Secrets Manager would generate: a password, or the template with the password as one
 * member.
 *
 * @throws LocalRunError when the rule cannot be met
 */
export function generateSecretString(rule: SecretStringRule, random: RandomIndex): string {
  const { SecretStringTemplate, GenerateStringKey } = rule;
  const password = generatePassword(rule, random);
  if (SecretStringTemplate === undefined || GenerateStringKey === undefined) return password;
  const template: unknown = JSON.parse(SecretStringTemplate);
  if (template === null || typeof template !== 'object' || Array.isArray(template)) {
    throw new LocalRunError(`SecretStringTemplate is a JSON object, not ${SecretStringTemplate}`);
  }
  return JSON.stringify({ ...template, [GenerateStringKey]: password });
}

function generatePassword(rule: SecretStringRule, random: RandomIndex): string {
  const length = rule.PasswordLength ?? 32;
  const kinds = characterKinds(rule);
  const all = kinds.join('');
  const required = rule.RequireEachIncludedType === false ? [] : kinds;
  if (all === '' || required.length > length) {
    throw new LocalRunError(`GenerateSecretString leaves no password of ${length} characters`);
  }
  const characters = required.map((kind) => pick(kind, random));
  while (characters.length < length) characters.push(pick(all, random));
  return shuffled(characters, random).join('');
}

/** The kinds of characters that the rule includes, each without the excluded ones. */
function characterKinds(rule: SecretStringRule): string[] {
  const kinds = [
    rule.ExcludeLowercase ? '' : 'abcdefghijklmnopqrstuvwxyz',
    rule.ExcludeUppercase ? '' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    rule.ExcludeNumbers ? '' : '0123456789',
    rule.ExcludePunctuation ? '' : '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    rule.IncludeSpace ? ' ' : '',
  ];
  const excluded = rule.ExcludeCharacters ?? '';
  return kinds
    .map((kind) => [...kind].filter((character) => !excluded.includes(character)).join(''))
    .filter((kind) => kind !== '');
}

const pick = (characters: string, random: RandomIndex) => characters.charAt(random(characters.length));

/** Fisher and Yates's shuffle, so that the required kinds do not stand first. */
function shuffled(characters: readonly string[], random: RandomIndex): string[] {
  const pool = [...characters];
  return characters.flatMap(() => pool.splice(random(pool.length), 1));
}
