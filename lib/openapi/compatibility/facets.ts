import type { Schema } from '../openapi.ts';

/**
 * The types that a value may have; undefined when it may have any. Null is separate, because it is added and
 * removed on its own.
 */
export function typesOf({ type, const: only, enum: values }: Schema): readonly string[] | undefined {
  if (type !== undefined) return [type].flat().filter((name) => name !== 'null');
  const listed = only === undefined ? values : [only];
  return listed === undefined
    ? undefined
    : [...new Set(listed.filter((value) => value !== null).map(typeOf))];
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** The alternatives of `anyOf` or `oneOf` that are not null. */
export const alternativesOf = ({ anyOf, oneOf }: Schema): readonly Schema[] | undefined =>
  (anyOf ?? oneOf)?.filter((option) => !isNull(option));

const isNull = ({ type, const: only }: Schema): boolean =>
  only === null || (type !== undefined && [type].flat().every((name) => name === 'null'));

/** The only values that are allowed, null apart; undefined when there is no such list. */
export const valuesOf = ({ const: only, enum: values }: Schema): readonly unknown[] | undefined =>
  (only === undefined ? values : [only])?.filter((value) => value !== null);

/** The names that a comma-separated list may have, by its pattern (`listed` in functions/api/fields.ts). */
export const namesInPattern = ({ pattern }: Schema): readonly string[] | undefined =>
  /^\^\((.+)\)\(,\(\1\)\)\*\$$/
    .exec(String(pattern))?.[1]
    ?.split('|')
    .map((name) => name.replaceAll('\\', ''));

/** Whether a value of type `narrow` is one of type `wide`. */
export const fits = (narrow: string, wide: readonly string[]): boolean =>
  wide.includes(narrow) || (narrow === 'integer' && wide.includes('number'));

/** Constraints of which a greater value allows more. */
export const UPPER_LIMITS = [
  'maxLength',
  'maximum',
  'exclusiveMaximum',
  'maxItems',
  'maxProperties',
] as const;

/** Constraints of which a smaller value allows more, with what their absence means. */
export const LOWER_LIMITS = {
  minLength: 0,
  minItems: 0,
  minProperties: 0,
  minimum: -Infinity,
  exclusiveMinimum: -Infinity,
} as const;
