import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { EVENT_SCHEMAS } from '../../lib/openapi/event-schemas.ts';

export const committedEventSchemas = readFileSync(join(import.meta.dirname, '../..', EVENT_SCHEMAS), 'utf8');
const schemas = JSON.parse(committedEventSchemas);

export const readEventSchema = (definition: string): Record<string, unknown> =>
  structuredClone(schemas.$defs[definition]);

// The strict mode refuses keywords, formats and types that have no effect.
const ajv = new Ajv2020({ strict: true, allErrors: true, schemas: [schemas] });
addFormats.default(ajv);

/** Compiles the committed schema of all events, or the named definition in it. */
export function compileEventSchema(definition?: string): ValidateFunction {
  const path = definition === undefined ? '' : `#/$defs/${definition}`;
  const validate = ajv.getSchema(`${schemas.$id}${path}`);
  if (validate === undefined) throw new Error(`no definition ${definition}`);
  return validate;
}

/** Violations of the committed schema of all events by the body of a delivery. */
export function eventViolations(body: string | Uint8Array): ErrorObject[] {
  const union = compileEventSchema();
  return union(JSON.parse(String(body))) ? [] : (union.errors ?? []);
}
