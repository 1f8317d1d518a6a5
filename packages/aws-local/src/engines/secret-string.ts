import { LocalRunError } from '../errors.ts';

/** `GenerateSecretString` of an `AWS::SecretsManager::Secret`, with CloudFormation's names. */
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

/** Uniform integer from 0 to `below` - 1, such as `crypto.randomInt`. */
export type RandomIndex = (below: number) => number;

/**
 * Generates a password as Secrets Manager does, or the template with the password as a member.
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
  return shuffle(characters, random).join('');
}

/** Character kinds that the rule includes, without excluded characters. */
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

/** Fisher-Yates shuffle, so that the required kinds do not come first. */
function shuffle(characters: readonly string[], random: RandomIndex): string[] {
  const pool = [...characters];
  return characters.flatMap(() => pool.splice(random(pool.length), 1));
}
