import type { OpenApiDocument, Operation, Schema } from '../../../lib/openapi/openapi.ts';

/*
 * A document with something to change: its operation takes an object and answers with one. Named schemas are
 * used in one direction only, so that a change of one is a change of one direction.
 */

const text: Schema = { type: 'string', minLength: 2, maxLength: 10, description: 'a text' };
const inner = (name: string): Schema => ({ type: 'object', properties: { [name]: text }, required: [name] });

/** An object with a field of each form, whose objects are at any depth. */
const object = (): Schema => ({
  type: 'object',
  properties: {
    plain: text,
    count: { type: 'integer', minimum: 1, maximum: 10 },
    time: { type: ['string', 'null'], format: 'date-time' },
    kind: { type: 'string', enum: ['one', 'two'] },
    nested: { type: 'object', properties: { deep: inner('deepest') } },
    list: { type: 'array', items: inner('item') },
    nullable: { anyOf: [inner('alpha'), { type: 'null' }] },
    choice: { oneOf: [inner('beta'), { type: 'string' }] },
    all: { allOf: [inner('gamma')] },
  },
  required: ['plain', 'list'],
});

const JSON_TYPE = 'application/json';
const header = { description: 'names the request', required: true, schema: { type: 'string' } };

const operation: Operation = {
  operationId: 'changeThing',
  tags: ['Things'],
  summary: 'changes',
  description: 'changes',
  security: [{ key: [] }],
  'x-required-scope': 'read:webhooks',
  parameters: [
    { name: 'alpha', in: 'query', required: true, description: 'a parameter', schema: text },
    { name: 'beta', in: 'header', required: false, description: 'a parameter', schema: { type: 'boolean' } },
  ],
  requestBody: {
    required: false,
    content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Body' } } },
  },
  responses: {
    '200': {
      description: 'done',
      headers: { 'Request-Id': { $ref: '#/components/headers/Request-Id' } },
      content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Answer' } } },
    },
    '400': { description: 'refused', content: { [JSON_TYPE]: { schema: { type: 'object' } } } },
  },
};

const eventOf = (name: string): Operation => ({
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
            data: object(),
          },
          required: ['type', 'schemaVersion', 'orgId', 'data'],
        },
      },
    },
  },
  responses: { '2XX': { description: 'taken' } },
});

const original: OpenApiDocument = {
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
  paths: { '/things/{id}': { post: operation } },
  webhooks: {
    'thing.happened': { post: eventOf('thing.happened') },
    'thing.ended': { post: eventOf('thing.ended') },
  },
  components: {
    schemas: { Body: object(), Answer: object() },
    responses: {},
    parameters: {},
    headers: { 'Request-Id': header },
    securitySchemes: {
      key: { type: 'http', scheme: 'bearer', description: 'a key' },
      session: { type: 'apiKey', in: 'cookie', name: 'session', description: 'a session' },
    },
  },
};

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

/** The document, before and after an edit. */
export function edited(edit: (parts: Editable) => void): [before: OpenApiDocument, after: OpenApiDocument] {
  // Not structuredClone, which keeps shared objects shared.
  const copy: OpenApiDocument = JSON.parse(JSON.stringify(original));
  const { schemas } = copy.components;
  const payload = present(copy.webhooks['thing.happened']?.post?.requestBody?.content[JSON_TYPE]?.schema);
  edit({
    document: copy,
    operation: present(copy.paths['/things/{id}']?.post),
    body: present(schemas.Body),
    answer: present(schemas.Answer),
    event: present(copy.webhooks['thing.happened']?.post),
    payload,
    data: present(payload.properties?.data),
  });
  return [original, copy];
}

export function present<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('the document has this');
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
