import * as z from 'zod/mini';
import { WITHOUT_CONTROLS } from '../../functions/api/fields.ts';
import { ENUMERATIONS } from './enumerations.ts';
import { ERROR_SCHEMAS } from './error-schema.ts';
import * as examples from './example-values.ts';
import { SCHEMAS, type Schema } from './openapi.ts';
import type { Described } from './operation-text.ts';
import { ANSWERS, BODIES } from './operations.ts';
import * as redeliveryExamples from './redelivery-examples.ts';
import { EVENTS } from './schemas.ts';
import { source } from './texts/knowledge.ts';
import { ticket } from './texts/tickets.ts';

/**
 * The named schemas as the document's components: what requests may hold, and what answers and events do
 * hold.
 */
export const schemaComponents = (): Record<string, Schema> => ({
  ...rendered({ ...schemasOf(ANSWERS), ...EVENTS, ...ENUMERATIONS }, 'output'),
  ...rendered({ ...schemasOf(BODIES), ...ENUMERATIONS }, 'input'),
  ...ERROR_SCHEMAS,
});

const schemasOf = (named: Readonly<Record<string, Described>>) =>
  Object.fromEntries(Object.entries(named).map(([name, { schema }]) => [name, schema]));

function rendered(
  named: Readonly<Record<string, z.ZodMiniType>>,
  io: 'input' | 'output',
): Record<string, Schema> {
  const names = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) names.add(schema, { id });
  const { schemas } = z.toJSONSchema(names, { io, uri: (id) => `${SCHEMAS}${id}`, override: addRefinements });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, refined(schema as Schema, io)]),
  );
}

const NAMES = new Map<unknown, string>(
  Object.entries({ ...schemasOf(ANSWERS), ...schemasOf(BODIES), ...ENUMERATIONS }).map(([name, schema]) => [
    schema,
    name,
  ]),
);

/**
 * The name of a schema, or of a list's elements.
 * @throws when no file of `texts` names the schema
 */
export function schemaName(schema: z.ZodMiniType): string {
  if (schema instanceof z.ZodMiniArray) return schemaName(element(schema));
  const name = NAMES.get(schema);
  if (name === undefined) throw new Error('a schema that a route uses has no name in lib/openapi/texts');
  return name;
}

/** Refers to a named schema, or to a list of one. */
export const schemaRef = (schema: z.ZodMiniType): Schema =>
  schema instanceof z.ZodMiniArray
    ? { type: 'array', items: schemaRef(element(schema)) }
    : { $ref: `${SCHEMAS}${schemaName(schema)}` };

const element = (list: z.ZodMiniArray): z.ZodMiniType => list.def.element as z.ZodMiniType;

/** One schema that has no name, as a request gives it. */
export const inlined = (schema: z.ZodMiniType): Schema =>
  refined(z.toJSONSchema(schema, { io: 'input', override: addRefinements }) as Schema, 'input');

const ID_EXAMPLES = Object.fromEntries(
  [
    examples.organization.id,
    examples.apiKey.id,
    examples.webhook.id,
    examples.conversationCreated.id,
    examples.succeededDelivery.id,
    examples.conversation.id,
    examples.message.id,
    examples.escalation.id,
    ticket.id,
    source.id,
    examples.httpChannel.id,
    redeliveryExamples.ordered.id,
    examples.erasure.id,
  ].map((id) => [id.slice(0, 4), id]),
);

/** Adds what refinements check, which zod does not render (functions/api/fields.ts). */
function addRefinements({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: object }): void {
  for (const check of zodSchema._zod.def.checks ?? []) {
    const { code, limit } = Object(Object(check._zod.def).params);
    if (code === 'invalid_characters') Object.assign(jsonSchema, { pattern: WITHOUT_CONTROLS });
    if (code === 'too_long') Object.assign(jsonSchema, { maxLength: limit });
    if (code === 'too_many') Object.assign(jsonSchema, { maxProperties: limit });
  }
}

/** Makes of what zod says of a schema what the API promises. */
function refined(schema: Schema, io: 'input' | 'output'): Schema {
  const { $schema, $id, ...keywords } = schema as Schema & { $schema?: string; $id?: string };
  const kept = { ...keywords };
  // Answers only gain fields, so clients may not refuse those that they do not know. Requests have no others.
  if (kept.additionalProperties === false) delete kept.additionalProperties;
  if (io === 'input' && kept.properties !== undefined) kept.additionalProperties = false;
  // In an answer the field is always there: a default would mislead its reader.
  if (io === 'output') delete kept.default;
  // `date-time` says it; the pattern that accepts nothing but days which exist is 300 characters long.
  if (kept.format === 'date-time') delete kept.pattern;
  if (kept.minimum === Number.MIN_SAFE_INTEGER) delete kept.minimum;
  if (kept.maximum === Number.MAX_SAFE_INTEGER) delete kept.maximum;
  if (Number.isInteger(kept.const)) kept.type = 'integer';
  // Generators make an enumeration of the text "true" of it, which refuses the value.
  if (typeof kept.const === 'boolean') {
    kept.type = 'boolean';
    delete kept.const;
  }
  const example = ID_EXAMPLES[kept.pattern?.slice(1, 5) ?? ''];
  if (example !== undefined) kept.examples = [example];
  if (kept.properties) kept.properties = mapped(kept.properties, (property) => refined(property, io));
  if (kept.items) kept.items = refined(kept.items, io);
  if (kept.anyOf) kept.anyOf = kept.anyOf.map((option) => refined(option, io));
  return flatNull(kept);
}

/**
 * `anyOf: [{ type: 'string', … }, { type: 'null' }]` is `type: ['string', 'null'], …`, which tools show
 * better.
 */
function flatNull({ anyOf, ...rest }: Schema): Schema {
  const [inner, none] = anyOf ?? [];
  if (anyOf === undefined || inner === undefined) return rest;
  // Of an enumeration with null, generators make several types.
  const isPlain = typeof inner.type === 'string' && inner.enum === undefined;
  if (anyOf.length !== 2 || none?.type !== 'null' || !isPlain) return { anyOf, ...rest };
  return { ...rest, ...inner, type: [String(inner.type), 'null'] };
}

const mapped = <T>(record: Readonly<Record<string, T>>, change: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
