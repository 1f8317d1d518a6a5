import type * as z from 'zod/mini';
import type { Schema } from '../../lib/openapi/openapi.ts';
import { inlined } from '../../lib/openapi/rendering.ts';

/** Of four bytes in UTF-8, the most that a character takes. */
const LARGEST_CHARACTER = '𠀀';

/**
 * A body with every field that a schema accepts, each as large as it may be.
 * @param given values that the schema does not have, such as identifiers and URLs, by the field
 */
export function largestBody(
  schema: z.ZodMiniType,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { properties = {} } = inlined(schema);
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, given[name] ?? largestValue(name, field)]),
  );
}

/** @throws Error when the schema has no largest value */
function largestValue(
  name: string,
  {
    type,
    enum: values,
    items,
    maximum,
    maxLength,
    properties,
    maxProperties = 0,
    propertyNames,
    additionalProperties,
  }: Schema,
): unknown {
  const types = [type].flat();
  if (typeof additionalProperties === 'object')
    return Object.fromEntries(
      Array.from({ length: maxProperties }, (_, index) => [
        `${String.fromCodePoint(0x20000 + index)}${LARGEST_CHARACTER.repeat((propertyNames?.maxLength ?? 1) - 1)}`,
        largestValue(name, additionalProperties),
      ]),
    );
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties).map(([field, schema]) => [field, largestValue(field, schema)]),
    );
  if (values !== undefined) return values.toSorted((a, b) => String(b).length - String(a).length)[0];
  if (types.includes('array')) return items?.enum ?? [largestValue(name, items ?? {})];
  if (types.includes('boolean')) return true;
  if (maximum !== undefined) return maximum;
  if (maxLength !== undefined) return LARGEST_CHARACTER.repeat(maxLength);
  throw new Error(`the schema has no largest ${name}: give one`);
}
