import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { currentDocument, dashboardDocument } from '../../../lib/openapi/current.ts';
import type { OpenApiDocument, Schema } from '../../../lib/openapi/openapi.ts';

export const document: OpenApiDocument = currentDocument();
export const dashboard: OpenApiDocument = dashboardDocument();

/** An example with its place and its schema. */
export interface PlacedExample {
  place: string;
  schema: Schema;
  value: unknown;
}

/** Every example of the document: beside a schema, in one, or by name. */
export function examplesIn(node: unknown, place = '#'): PlacedExample[] {
  if (typeof node !== 'object' || node === null) return [];
  if (Array.isArray(node)) return node.flatMap((item, index) => examplesIn(item, `${place}/${index}`));
  const { schema, example, examples } = node as Record<string, unknown>;
  const own: PlacedExample[] = [];
  const add = (of: unknown, value: unknown, where: string) =>
    own.push({ place: `${place}/${where}`, schema: of as Schema, value });
  if (schema !== undefined && example !== undefined) add(schema, example, 'example');
  if (schema !== undefined && examples !== undefined)
    for (const [name, { value }] of Object.entries(Object(examples) as Record<string, { value: unknown }>))
      add(schema, value, `examples/${name}`);
  if (schema === undefined && Array.isArray(examples)) {
    const { examples: _, ...rest } = node as Schema;
    for (const value of examples) add(rest, value, 'examples');
  }
  const deeper = Object.entries(node).flatMap(([key, value]) =>
    // An example's content is data, even where its fields have names of keywords.
    key === 'example' || key === 'examples' ? [] : examplesIn(value, `${place}/${key}`),
  );
  return [...own, ...deeper];
}

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
addFormats.default(ajv);
for (const keyword of ['components', 'discriminator', 'x-extensible-enum']) ajv.addKeyword(keyword);
ajv.addSchema({
  $id: 'document',
  components: { schemas: { ...dashboard.components.schemas, ...document.components.schemas } },
});

/** Violations of a schema by a value; references are to the documents' components. */
export function violations(schema: Schema, value: unknown): ErrorObject[] {
  const resolved = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));
  const validate = ajv.compile(resolved);
  validate(value);
  return validate.errors ?? [];
}
