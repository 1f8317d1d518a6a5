import {
  type ApiDocument,
  listEventSchemas,
  listOperations,
  nameIn,
  type Operation,
  type Schema,
} from './api-document.ts';
import { capitalize, toSnakeCase } from './names.ts';

/** Schemas for the generator of types, by name. */
export type Schemas = Record<string, Schema>;

const RECEIVED_EVENT = 'conversation_service.model.ReceivedEvent';

/**
 * Schemas of what the service sends: resources and events. Enumerations are open and constraints left out,
 * because a client must take values that are added later.
 */
export function listModels(document: ApiDocument): Schemas {
  const { schemas } = document.components;
  const events = listEventSchemas(document);
  const results = listOperations(document).flatMap(({ result }) => (result === undefined ? [] : [result]));
  const names = reach(schemas, [...results, ...events, 'ErrorResponse']);
  // A choice of resources has no model of its own: `listChoices`.
  const models = names.filter((name) => schemas[name]?.oneOf === undefined);
  const opened: Schemas = {};
  for (const name of models) openModel(schemas[name] ?? {}, name, opened);
  return mapValues(opened, (schema, name) =>
    events.includes(name) ? { ...schema, customBasePath: RECEIVED_EVENT } : schema,
  );
}

/** Resources of several kinds, with their models. */
export const listChoices = (
  { components: { schemas } }: ApiDocument,
  names: readonly string[],
): Record<string, string[]> =>
  Object.fromEntries(
    [...new Set(names)].flatMap((name) => {
      const { oneOf } = schemas[name] ?? {};
      return oneOf === undefined ? [] : [[name, oneOf.map(({ $ref = '' }) => nameIn($ref))]];
    }),
  );

/** Schemas of what callers pass: bodies by their names, filters of lists by their operations. */
export function listParameters(document: ApiDocument): Schemas {
  const { schemas } = document.components;
  const operations = listOperations(document);
  const bodies = operations.flatMap(({ body }) => (body === undefined ? [] : kindsOf(schemas, body)));
  return Object.fromEntries([
    ...[...new Set(bodies)].map((name) => [name, namedInPython(schemas, schemas[name] ?? {})]),
    ...operations.flatMap((operation) => {
      const filter = filterOf(operation);
      return filter === undefined ? [] : [[filterName(operation), namedInPython(schemas, filter)]];
    }),
    ['FollowEvents', namedInPython(schemas, followFilter(operations))],
  ]);
}

export const kindsOf = (schemas: Schemas, name: string): string[] =>
  schemas[name]?.oneOf?.map(({ $ref = '' }) => nameIn($ref)) ?? [name];

export const filterName = ({ id }: Operation): string => capitalize(id);

/** Query parameters of an operation, without the cursor, which `Pages` sets. */
export function filterOf({ query }: Operation): Schema | undefined {
  const filters = query.filter(({ name }) => name !== 'cursor');
  if (filters.length === 0) return undefined;
  const properties = filters.map(({ name, schema, description = '' }) => [
    name,
    { ...listOrText(schema), description },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** The filter of the event log without what following it sets. */
function followFilter(operations: readonly Operation[]): Schema {
  const events = operations.find(({ id }) => id === 'listEvents');
  const { order: _, to: __, ids: ___, ...properties } = (events && filterOf(events))?.properties ?? {};
  return { type: 'object', properties };
}

/** Values separated by commas can be passed as a list. */
function listOrText(schema: Schema): Schema {
  const [, values] = /^\^\(([^()]+)\)\(,\(\1\)\)\*\$$/.exec(schema.pattern ?? '') ?? [];
  if (values === undefined) return schema;
  const items = { type: 'string', enum: values.replaceAll('\\', '').split('|') };
  return { anyOf: [{ type: 'array', items }, { type: 'string' }] };
}

/** The names of schemas that some of them refer to, in the document's order. */
function reach(schemas: Schemas, from: readonly string[]): string[] {
  const names = new Set<string>();
  const visit = (name: string): void => {
    if (names.has(name)) return;
    names.add(name);
    for (const [, ref = ''] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      visit(ref);
  };
  for (const name of from) visit(name);
  return Object.keys(schemas).filter((name) => names.has(name));
}

/**
 * A schema without constraints, for what the service sends.
 * @param title of an object that has no name: it is added to the others, and referred to
 */
function openModel(schema: Schema, title: string, others: Schemas): Schema {
  const { $ref, type, required, items, anyOf, const: constant, format } = schema;
  if ($ref !== undefined) return { $ref };
  const description = describe(schema);
  const values = schema.enum ?? (isOpen(title) && constant !== undefined ? [constant] : undefined);
  if (values !== undefined)
    return { anyOf: [{ type: 'string', enum: values }, { type: 'string' }], ...description };
  if (schema.properties !== undefined) {
    const properties = mapValues(schema.properties, (property, name) =>
      openModel(property, `${title}${capitalize(name)}`, others),
    );
    others[title] = { type: 'object', ...description, properties, required: required ?? [] };
    return { $ref: `#/components/schemas/${title}`, ...description };
  }
  return {
    ...(type && { type }),
    ...description,
    ...(constant !== undefined && { const: constant }),
    ...(format === 'date-time' && { format }),
    ...(anyOf && { anyOf: anyOf.map((each) => openModel(each, title, others)) }),
    ...(items && { items: openModel(items, title, others) }),
    ...(schema.additionalProperties !== undefined && { additionalProperties: schema.additionalProperties }),
  };
}

/** A constant distinguishes kinds, and types and versions of events; others may get more values. */
const isOpen = (title: string): boolean => !/(?:Kind|Type|SchemaVersion)$/.test(title);

/** Names as Python has them, and times as `datetime` or text. The service judges values. */
function namedInPython(schemas: Schemas, schema: Schema): Schema {
  const { properties = {}, required = [] } = schema;
  return {
    type: 'object',
    ...describe(schema),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [toSnakeCase(name), parameterOf(schemas, each)]),
    ),
    required: required.map(toSnakeCase),
  };
}

const TIME: Schema = { anyOf: [{ type: 'string', customTypePath: 'datetime.datetime' }, { type: 'string' }] };

function parameterOf(schemas: Schemas, schema: Schema): Schema {
  const { $ref, type, items, anyOf, enum: values, const: constant, format, additionalProperties } = schema;
  const description = describe(schema);
  if ($ref !== undefined) return { ...parameterOf(schemas, schemas[nameIn($ref)] ?? {}), ...description };
  return {
    ...(format === 'date-time' ? TIME : type && { type }),
    ...description,
    ...(values && { enum: values }),
    ...(constant !== undefined && { const: constant }),
    ...(items && { items: parameterOf(schemas, items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: parameterOf(schemas, additionalProperties),
    }),
    ...(anyOf && { anyOf: anyOf.map((each) => parameterOf(schemas, each)) }),
  };
}

const mapValues = <Value>(values: Record<string, Value>, change: (value: Value, name: string) => Value) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));

const describe = ({ description }: Schema): Schema =>
  description === undefined ? {} : { description: fold(description) };

const DESCRIPTION_COLUMNS = 100;

/** Lines of a description, so that it is read beside its field. */
function fold(text: string): string {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length > DESCRIPTION_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines.join('\n');
}
