import { EVENT_CATALOGUE } from '../../functions/events/events.ts';
import { ENVELOPE_FIELDS } from './fields.ts';
import type { OpenApiDocument, Schema } from './openapi.ts';
import { ANSWERS, BODIES } from './operations.ts';
import { EVENT_TYPES, eventSchemaName } from './schemas.ts';

type Texts = Readonly<Record<string, string>>;

/**
 * Puts the texts and constraints of the fields into the named schemas. They are not in the schemas of the
 * functions, which would carry them about.
 */
export function describeFields(document: OpenApiDocument): OpenApiDocument {
  const described = structuredClone(document);
  const { schemas } = described.components;
  for (const [name, { fields, constraints = {} }] of Object.entries({ ...ANSWERS, ...BODIES })) {
    describe(schemas[name], fields);
    for (const [field, constraint] of Object.entries(constraints))
      Object.assign(property(schemas[name], field) ?? {}, constraint);
  }
  for (const type of EVENT_TYPES) {
    const schema = schemas[eventSchemaName(type)];
    describe(schema, ENVELOPE_FIELDS);
    describe(property(schema, 'data'), EVENT_CATALOGUE[type].fields);
  }
  return described;
}

const property = (schema: Schema | undefined, name: string): Schema | undefined => schema?.properties?.[name];

function describe(schema: Schema | undefined, texts: Texts): void {
  for (const [name, description] of Object.entries(texts)) {
    const described = property(schema, name);
    if (described !== undefined) described.description = description;
  }
}
