import { type OpenApiDocument, SCHEMAS, type Schema } from './openapi.ts';
import type { Variant, Variants } from './operation-text.ts';
import { ANSWERS, BODIES } from './operations.ts';

/**
 * Makes each schema with variants a choice between them, which tells clients what a field's value means for
 * the others.
 */
export function withVariants(document: OpenApiDocument): OpenApiDocument {
  const schemas = { ...document.components.schemas };
  for (const [name, { variants }] of Object.entries({ ...ANSWERS, ...BODIES })) {
    const whole = schemas[name];
    if (variants === undefined || whole === undefined) continue;
    const { property, of } = variants;
    for (const [value, variant] of Object.entries(of))
      schemas[variant.name] = narrowed(whole, { property, value, variant });
    schemas[name] = choice(variants);
  }
  return { ...document, components: { ...document.components, schemas } };
}

function choice({ property, of }: Variants): Schema {
  const refs = Object.entries(of).map(([value, { name }]) => [value, `${SCHEMAS}${name}`] as const);
  return {
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: property, mapping: Object.fromEntries(refs) },
  };
}

function narrowed(
  { properties = {}, required = [], ...rest }: Schema,
  { property, value, variant }: { property: string; value: string; variant: Variant },
): Schema {
  const { present = [], without = [], required: always = [] } = variant;
  const fields = Object.entries(properties)
    .filter(([name]) => !without.includes(name))
    .map(([name, schema]) => [name, present.includes(name) ? withoutNull(schema) : schema]);
  const kind: Schema = {
    type: 'string',
    const: value,
    // Says the same to generated Go clients, which tell variants apart by patterns.
    pattern: `^${value}$`,
    description: properties[property]?.description ?? '',
  };
  return {
    ...rest,
    properties: { ...Object.fromEntries(fields), [property]: kind },
    required: [...required, ...always],
  };
}

/** @param schema of a text or null */
const withoutNull = (schema: Schema): Schema => ({ ...schema, type: 'string' });
