import type { OpenApiDocument, Schema } from '../openapi.ts';
import { alternativesOf } from './facets.ts';

/** What a reference within a document stands for. */
export type Resolve = <T extends object>(thing: T | { $ref: string }) => T;

/** @throws when a reference leads nowhere */
export const resolverOf =
  (document: OpenApiDocument): Resolve =>
  <T extends object>(thing: T | { $ref: string }): T => {
    let target: unknown = thing;
    while (refOf(target) !== undefined) {
      const ref = refOf(target) ?? '';
      target = ref
        .split('/')
        .slice(1)
        .reduce<unknown>((node, step) => Object(node)[unescaped(step)], document);
      if (target === undefined) throw new Error(`nothing is at ${ref}`);
    }
    return target as T;
  };

export const refOf = (thing: unknown): string | undefined => {
  const { $ref } = Object(thing) as { $ref?: unknown };
  return typeof $ref === 'string' ? $ref : undefined;
};

/** A step of a JSON pointer (RFC 6901, 4). */
const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

/**
 * A schema as one object: its reference followed, what `allOf` and keywords beside a reference say taken
 * together, and "this or null" as a type that includes null.
 */
export function flattened(schema: Schema, resolve: Resolve): Schema {
  const { $ref, allOf = [], ...own } = schema;
  const parts = [...($ref === undefined ? [] : [resolve<Schema>({ $ref })]), ...allOf];
  return withoutChoice(parts.map((part) => flattened(part, resolve)).reduce(merged, own), resolve);
}

/** What is said by a choice between one shape and null is that shape, which may be null. */
function withoutChoice(schema: Schema, resolve: Resolve): Schema {
  const { anyOf, oneOf, ...own } = schema;
  const [only, ...others] = alternativesOf(schema) ?? [];
  if (only === undefined || others.length > 0) return schema;
  const shape = merged(flattened(only, resolve), own);
  if (!isNullable(schema, resolve) || shape.type === undefined) return shape;
  return {
    ...shape,
    type: [...new Set([...[shape.type].flat(), 'null'])],
    ...(shape.enum === undefined ? {} : { enum: [...new Set([...shape.enum, null])] }),
  };
}

/** Whether null is a value: no keyword rules it out. */
export function isNullable(
  { type, anyOf, oneOf, enum: values, const: only }: Schema,
  resolve: Resolve,
): boolean {
  const options = anyOf ?? oneOf;
  return (
    (type === undefined || [type].flat().includes('null')) &&
    (only === undefined || only === null) &&
    (values === undefined || values.includes(null)) &&
    (options === undefined || options.some((option) => isNullable(resolve<Schema>(option), resolve)))
  );
}

const merged = (first: Schema, second: Schema): Schema => ({
  ...second,
  ...first,
  ...(first.properties === undefined || second.properties === undefined
    ? {}
    : { properties: mergedProperties(first.properties, second.properties) }),
  ...(first.required === undefined || second.required === undefined
    ? {}
    : { required: [...new Set([...first.required, ...second.required])] }),
});

/** A property that both have must satisfy both. */
const mergedProperties = (
  first: Record<string, Schema>,
  other: Record<string, Schema>,
): Record<string, Schema> => ({
  ...other,
  ...Object.fromEntries(
    Object.entries(first).map(([name, schema]) => {
      const second = other[name];
      return [name, second === undefined ? schema : { allOf: [schema, second] }];
    }),
  ),
});
