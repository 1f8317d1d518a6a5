import fc from 'fast-check';
import type { OpenApiDocument, Operation, Parameter, Schema } from '../../../lib/openapi/openapi.ts';

/*
 * Random documents with something to change in each: each operation takes an object and answers with one,
 * both with at least one field. Named schemas are used in one direction only, so that a change of one is a
 * change of one direction.
 */

const names = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'epsilon');

const scalars: fc.Arbitrary<Schema> = fc.oneof(
  fc.record(
    {
      type: fc.constant('string'),
      maxLength: fc.integer({ min: 10, max: 100 }),
      minLength: fc.integer({ min: 0, max: 5 }),
      description: fc.constant('a text'),
    },
    { requiredKeys: ['type'] },
  ),
  fc.constant<Schema>({ type: 'string', format: 'date-time' }),
  fc.constant<Schema>({ type: ['string', 'null'], format: 'date-time' }),
  fc.constant<Schema>({ type: 'string', pattern: '^[a-z]+$' }),
  fc.constant<Schema>({ type: 'string', enum: ['one', 'two'] }),
  fc.constant<Schema>({ type: 'string', const: 'only' }),
  fc.constant<Schema>({ type: 'boolean' }),
  fc.constant<Schema>({ type: 'integer', minimum: 0, maximum: 10 }),
  fc.constant<Schema>({ type: 'number' }),
);

const { object } = fc.letrec<{ object: Schema; schema: Schema }>((tie) => ({
  object: fc
    .tuple(
      fc.dictionary(names, tie('schema'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
      fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    )
    .map(([properties, chosen]) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).filter((_, index) => chosen[index]),
    })),
  schema: fc.oneof(
    { depthSize: 'xsmall', withCrossShrink: true },
    scalars,
    tie('object'),
    tie('schema').map((items) => ({ type: 'array', items })),
    tie('object').map((shape) => ({ anyOf: [shape, { type: 'null' }] })),
    tie('object').map((shape) => ({ oneOf: [shape, { type: 'string' }] })),
    tie('object').map((shape) => ({ allOf: [shape] })),
  ),
}));

const parameters: fc.Arbitrary<Parameter> = fc.record({
  name: names,
  in: fc.constantFrom('query' as const, 'header' as const),
  required: fc.boolean(),
  description: fc.constant('a parameter'),
  schema: scalars,
});

const parameterLists = fc.uniqueArray(parameters, {
  minLength: 1,
  maxLength: 3,
  selector: ({ name, in: where }) => `${where} ${name}`,
});

interface Parts {
  parameters: Parameter[];
  body: Schema;
  required: boolean;
  answer: Schema;
  status: string;
}

const operations: fc.Arbitrary<Parts> = fc.record({
  parameters: parameterLists,
  body: object,
  required: fc.boolean(),
  answer: object,
  status: fc.constantFrom('200', '201'),
});

const JSON_TYPE = 'application/json';
const header = { description: 'names the request', required: true, schema: { type: 'string' } };

const operationOf = (name: string, parts: Parts): Operation => ({
  operationId: name,
  tags: ['Things'],
  summary: name,
  description: name,
  security: [{ key: [] }],
  'x-required-scope': 'read:webhooks',
  parameters: parts.parameters,
  requestBody: {
    required: parts.required,
    content: { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${name}Body` } } },
  },
  responses: {
    [parts.status]: {
      description: 'done',
      headers: { 'Request-Id': { $ref: '#/components/headers/Request-Id' } },
      content: { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${name}Answer` } } },
    },
    '400': { description: 'refused', content: { [JSON_TYPE]: { schema: { type: 'object' } } } },
  },
});

const eventOf = (name: string, data: Schema): Operation => ({
  operationId: name,
  tags: ['Events'],
  summary: name,
  description: name,
  security: [],
  parameters: [
    { name: 'webhook-id', in: 'header', required: true, description: 'names it', schema: { type: 'string' } },
  ],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: {
          type: 'object',
          properties: {
            type: { type: 'string', const: name },
            schemaVersion: { type: 'integer', const: 1 },
            orgId: { type: 'string' },
            data,
          },
          required: ['type', 'schemaVersion', 'orgId', 'data'],
        },
      },
    },
  },
  responses: { '2XX': { description: 'taken' } },
});

/** Any document. Its first operation is `POST /things/{id}`, its first event `thing.happened`. */
export const documents: fc.Arbitrary<OpenApiDocument> = fc
  .record({ first: operations, others: fc.array(operations, { maxLength: 2 }), data: object, other: object })
  .map(({ first, others, data, other }) => {
    const all = [first, ...others].map((parts, index) => ({ parts, name: `operation${index}` }));
    return {
      openapi: '3.1.1',
      info: {
        title: 'Things',
        version: '1.0.0',
        summary: 'things',
        description: 'things',
        contact: { name: 'us' },
        license: { name: 'none' },
      },
      servers: [{ url: '/', description: 'here' }],
      tags: [],
      paths: Object.fromEntries(
        all.map(({ parts, name }, index) => [
          index === 0 ? '/things/{id}' : `/others/${index}`,
          { post: operationOf(name, parts) },
        ]),
      ),
      webhooks: {
        'thing.happened': { post: eventOf('thing.happened', data) },
        'thing.ended': { post: eventOf('thing.ended', other) },
      },
      components: {
        schemas: Object.fromEntries(
          all.flatMap(({ parts, name }) => [
            [`${name}Body`, parts.body],
            [`${name}Answer`, parts.answer],
          ]),
        ),
        responses: {},
        parameters: {},
        headers: { 'Request-Id': header },
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'a key' },
          session: { type: 'apiKey', in: 'cookie', name: 'session', description: 'a session' },
        },
      },
    };
  });

/** The targets of edits: the first operation and event, and the schemas that they use. */
export interface Editable {
  document: OpenApiDocument;
  operation: Operation;
  body: Schema;
  answer: Schema;
  event: Operation;
  payload: Schema;
  data: Schema;
}

/** A changed copy of a document. */
export function edited(document: OpenApiDocument, edit: (parts: Editable) => void): OpenApiDocument {
  // Not structuredClone, which keeps shared objects shared.
  const copy: OpenApiDocument = JSON.parse(JSON.stringify(document));
  const { schemas } = copy.components;
  const payload = present(copy.webhooks['thing.happened']?.post?.requestBody?.content[JSON_TYPE]?.schema);
  edit({
    document: copy,
    operation: present(copy.paths['/things/{id}']?.post),
    body: present(schemas.operation0Body),
    answer: present(schemas.operation0Answer),
    event: present(copy.webhooks['thing.happened']?.post),
    payload,
    data: present(payload.properties?.data),
  });
  return copy;
}

export function present<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('generated documents have this');
  return thing;
}

/** The first field of an object. */
export const firstField = (schema: Schema): string => present(Object.keys(schema.properties ?? {})[0]);

/** Every object with fields within a schema, the schema itself first. */
export function objectsIn(schema: Schema): Schema[] {
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
  ];
  return [...(schema.properties === undefined ? [] : [schema]), ...parts.flatMap(objectsIn)];
}
