import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export const EVENT_SCHEMAS = join(import.meta.dirname, '../../docs/schemas');

export const readEventSchema = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(EVENT_SCHEMAS, file), 'utf8'));

// Shared, because compiling the meta-schema takes longer than all schemas of events.
const ajv = new Ajv2020({ strict: true, allErrors: true });
addFormats.default(ajv);

/** Compiles a schema in the strict mode, which refuses keywords, formats and types that have no effect. */
export const compileSchema = (schema: object): ValidateFunction =>
  ajv.getSchema(String(Object(schema).$id)) ?? ajv.compile(schema);

let union: ValidateFunction | undefined;

/** Violations of the committed schema of all events by the body of a delivery. */
export function eventViolations(body: string | Uint8Array): ErrorObject[] {
  union ??= compileSchema(readEventSchema('event.json'));
  return union(JSON.parse(String(body))) ? [] : (union.errors ?? []);
}
